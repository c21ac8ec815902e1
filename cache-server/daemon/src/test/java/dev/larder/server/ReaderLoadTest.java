package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.client.StringsColumn;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.InstalledReaders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Loads by a reader, a process of its own, that does what it should, and whatever else it can think of. */
class ReaderLoadTest {
    private static final int NUMBERS = 1 << 20;

    @TempDir
    Path sources;

    @RegisterExtension
    final InstalledReaders readers = new InstalledReaders()
            .with("hostile", List.of("names=(?<stem>.+)\\\\.hostile", InstalledReaders.classPath(ReaderLoadTest.class)))
            .property("larder.reader.heap", "64m")
            .property("larder.reader.patience", "30s");

    private final ServedStore served = ServedStore.create();

    @AfterEach
    void close() {
        served.close();
        System.clearProperty("larder.reader.java");
        assertThat(served.readersAlive()).isEmpty();
    }

    private Path source(String name, String behaviour) throws IOException {
        return Files.writeString(sources.resolve(name + ".hostile"), behaviour + "\n");
    }

    @Test
    void anArrayComesFromItsOwnFileWhateverLevelItsNameBeginsWith() throws IOException {
        served.start();
        Files.createDirectory(sources.resolve("a"));
        source("a/b", "other");
        for (String text : List.of("below one", "below two")) {
            source("a", text);

            served.control().load(ServedStore.request("d", sources), progress -> {});

            assertThat(text("a/b/x")).isEqualTo(text);
        }
    }

    private String text(String array) {
        try (Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset("d")) {
            ArrayView bytes = dataset.array(array);
            StringBuilder text = new StringBuilder();
            for (long i = 0; i < bytes.shape()[0]; i++) {
                text.append((char) bytes.getInt(i));
            }
            return text.toString();
        }
    }

    @Test
    void aColumnThatNoFileHasIsRefused() throws IOException {
        served.start();
        LoadRequest request = new LoadRequest(
                ServedStore.request("d", source("x", "good")).sources(),
                LoadOptions.none().withKeys(List.of("a", "nope")),
                0);

        assertThatThrownBy(() -> served.control().load(request, progress -> {}))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("it has no columns [nope]")
                .hasMessageContaining("x.hostile");
        assertThat(served.readersAlive()).isEmpty();
        assertThat(served.control().list("", true)).isEmpty();
    }

    @Test
    void whatAReaderWritesIsPublishedAndProgressIsTold() throws IOException {
        served.start();
        List<Progress> told = new ArrayList<>();

        served.control().load(ServedStore.request("d", source("x", "good")), told::add);

        try (Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset("d")) {
            assertThat(dataset.array("a").shape()).containsExactly(NUMBERS);
            assertThat(dataset.array("a").getInt(NUMBERS - 1)).isEqualTo(NUMBERS - 1);
            assertThat(dataset.array("b").shape()).containsExactly(2, 3);
            assertThat(dataset.array("b").getInt(1, 2)).isEqualTo(6);
            assertThat(dataset.array("c_of_d").getLong(3)).isEqualTo((long) 'd');
            StringsColumn seen = dataset.strings("s");
            assertThat(seen.get(0)).isEqualTo("LARDER_FAMILY,LC_ALL,PATH" + timeZone() + " []");
        }
        assertThat(told).anySatisfy(progress -> {
            assertThat(progress.phase()).isEqualTo(Progress.Phase.LOADING);
            assertThat(progress.bytesDone()).isPositive().isLessThanOrEqualTo(progress.bytesTotal());
        });
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
        assertThat(served.readersAlive()).isEmpty();
        assertThat(served.control().verify("", progress -> {}).files()).isEqualTo(5);
    }

    private static String timeZone() {
        return System.getenv("TZ") == null ? "" : ",TZ";
    }

    @Test
    void aFolderIsLoadedReloadedComparedAndReadThrough() throws IOException {
        served.start();
        source("x", "good");
        source("y", "good");
        served.load("d", sources);
        assertThat(served.control().list("d", true)).extracting(ArrayRow::name).contains("d/x/a", "d/y/s/bytes");

        assertThat(served.load("d", sources).message()).contains("unchanged");
        assertThat(served.control().reload("d", progress -> {}).message()).contains("unchanged");
        source("y", "good again");
        assertThat(served.load("d", sources).message()).contains("d is unchanged");
        Files.delete(sources.resolve("y.hostile"));
        assertThat(served.load("d", sources).message()).contains("d has changed");
        served.control().evict("d");
        try (Larder larder = Larder.connect(served.root());
                Dataset again = larder.dataset("d")) {
            assertThat(again.array("x/a").getInt(7)).isEqualTo(7);
        }
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
    }

    @Test
    void noReaderIsStartedForFilesThatHaveNotChanged() throws IOException {
        served.start();
        Path source = source("x", "good");
        Files.setLastModifiedTime(source, FileTime.fromMillis(1_000_000));
        served.load("d", source);
        System.setProperty("larder.reader.java", "/nowhere"); // none could be started

        assertThat(served.load("d", source).message()).contains("d is unchanged", "look unchanged");
        assertThatThrownBy(() -> served.control().reload("d", progress -> {})).hasMessageContaining("/nowhere");

        System.clearProperty("larder.reader.java");
        assertThat(served.control().reload("d", progress -> {}).message()).contains("d is unchanged", "read again");
        Files.writeString(source, "good, and longer\n");
        assertThat(served.load("d", source).message()).contains("d is unchanged", "read again");
    }

    @Test
    void ofManySourcesFewReadersWaitForTheirTurn() throws Exception {
        served.start();
        List<LoadRequest.Source> sources = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            sources.add(new LoadRequest.Source(
                    "d" + i, source("x" + i, i == 4 ? "slow-look" : "good").toString()));
        }
        LoadRequest request = new LoadRequest(sources, LoadOptions.none(), 0);
        CompletableFuture<Done> load =
                CompletableFuture.supplyAsync(() -> served.control().load(request, progress -> {}));
        Awaitility.await()
                .atMost(Duration.ofMinutes(2))
                .until(() -> Files.exists(sources.get(4).file().resolveSibling("x4.hostile.looked")));

        assertThat(served.readersAlive()).hasSizeBetween(1, 3);
        Files.createFile(sources.get(4).file().resolveSibling("x4.hostile.go"));
        assertThat(load.get(60, TimeUnit.SECONDS).files()).isEqualTo(5);
        try (Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset("d0")) {
            assertThat(dataset.array("a").getInt(NUMBERS - 1)).isEqualTo(NUMBERS - 1);
        }
        assertThat(served.readersAlive()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "exit-look, UNEXPECTED, 'a reader died: kind=hostile exit=7'", // without the note that it has logged
        "exit-read, UNEXPECTED, exit=9",
        "hang-look, DEADLINE, a reader made no progress: seconds=1 reader=hostile",
        "hang-read, DEADLINE, a reader made no progress",
        "tell-nothing, DEADLINE, a reader made no progress",
        "eat-heap, UNEXPECTED, LARDER_READER_HEAP=SIZE; if the file is small",
        "flood, UNEXPECTED, xthe end",
        "crash, UNEXPECTED, A fatal error has been detected by the Java Runtime Environment: SIGSEGV",
        "throw, UNEXPECTED, a bug",
        "refuse, BAD_INPUT, x.hostile offset=12 column=a reason=its sum is wrong; write it again",
        "claim-progress, UNEXPECTED, more progress than there can be",
        "lie-dtype, UNEXPECTED, a reader offered an impossible array",
        "lie-shape, UNEXPECTED, a reader offered an impossible array",
        "lie-size, UNEXPECTED, a reader offered an impossible array",
        "lie-part, UNEXPECTED, no such part of a column",
        "lie-file, UNEXPECTED, no such file",
        "lie-place, BAD_INPUT, would not lie within the file",
        "lie-long, UNEXPECTED, its arrays have names of more than",
        "lie-name, BAD_INPUT, its array cannot be called",
        "offer-twice, UNEXPECTED, it is offered twice",
        "want-terabytes, NO_SPACE, needed=",
        "write-half, UNEXPECTED, the reader wrote another number of bytes than it offered: array=a",
        "write-past, UNEXPECTED, outside of the array",
        "lengthen, UNEXPECTED, a reader changed the length",
        "truncate, UNEXPECTED, a reader",
        "fill, UNEXPECTED, a reader wrote more than it offered",
    })
    void whateverAReaderDoesCostsItsOwnLoadAlone(String behaviour, ErrorCode code, String said) throws IOException {
        served.start();
        Path source = source("x", behaviour);
        if (code == ErrorCode.DEADLINE) {
            System.setProperty("larder.reader.patience", "1s");
        }

        assertThatThrownBy(() -> served.load("d", source))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(said)
                .satisfies(e -> assertThat(String.valueOf(e.getMessage())).hasSizeLessThan(4000));
        served.requireNothingLeft();
        served.load("good", ServedStore.writeInts(sources.resolve("good.npy"), 1));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "print-endlessly | O                       | it does not begin with {",
                "print-endlessly | {\"failed\":{\"reason\":\"a | it is longer than 1048576 bytes",
                "print           | {\"granted\":{}}         | granted: no such field",
            })
    void aMessageThatIsNoneIsRefusedWithTheReason(String how, String printed, String reason) throws IOException {
        served.start();
        String end = how.equals("print") ? "\0" : "";
        Path source = source("x", how + " " + printed + end);

        assertThatThrownBy(() -> served.load("d", source))
                .hasMessageContaining("a reader broke the protocol: kind=hostile")
                .hasMessageContaining(reason)
                .satisfies(e -> assertThat(String.valueOf(e.getMessage())).hasSizeLessThan(4000));
        served.requireNothingLeft();
    }

    @Test
    void aReaderThatEndsWithinAMessageHasDied() throws IOException {
        served.start();
        Path source = source("x", "print-and-exit {\"finished\":{}");

        assertThatThrownBy(() -> served.load("d", source)).hasMessageContaining("a reader died: kind=hostile exit=0");
        served.requireNothingLeft();
    }

    @Test
    void aProcessThatAReaderLeavesBehindIsKilledBeforeAnythingIsPublished() throws IOException {
        served.start();
        served.load("d", source("x", "fork"));

        assertThat(served.readersAlive()).isEmpty();
        try (Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset("d")) {
            assertThat(dataset.array("a").getInt(1)).isEqualTo(1);
        }
    }

    @Test
    void aReaderAndWhatItStartedDieWithTheirDaemonAndTheNextOneFindsNothing() throws Exception {
        Path source = source("x", "fork-hang");
        List<String> flags = Stream.of(
                        ChildJvm.libraryFlags(), readers.flags(), List.of("-Dlarder.reader.patience=60s"))
                .flatMap(List::stream)
                .toList();
        try (ChildJvm child = ChildJvm.start(
                System.getProperty("java.class.path"),
                flags,
                DaemonProgram.class.getName(),
                served.root().toString())) {
            child.awaitLine(DaemonProgram.READY);
            CompletableFuture<Void> load = CompletableFuture.runAsync(() -> served.load("d", source));
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(Path.of(source + ".forked")));
            child.kill();
            assertThat(load.handle((done, failure) -> failure != null).get(60, TimeUnit.SECONDS))
                    .isTrue();
        }

        Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .until(() -> served.readersAlive().isEmpty());
        served.start();
        served.requireNothingLeft();
    }

    @Test
    void aReaderThatIsKilledCostsItsOwnLoad() throws Exception {
        served.start();
        Path source = source("x", "hang-look");
        CompletableFuture<Void> load = CompletableFuture.runAsync(() -> served.load("d", source));
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(() -> !served.readersAlive().isEmpty());
        ProcessHandle.current()
                .children()
                .filter(child -> child.info().commandLine().orElse("").contains("ReaderProgram"))
                .forEach(ProcessHandle::destroyForcibly);

        assertThat(load.handle((done, failure) -> String.valueOf(failure)).get(60, TimeUnit.SECONDS))
                .contains("a reader died: kind=hostile exit=137 signal=SIGKILL; nothing else is affected");
        served.requireNothingLeft();
    }
}
