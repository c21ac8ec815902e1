package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ShardRows;
import dev.larder.internal.posix.HugePages;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Progress.Phase;
import dev.larder.server.reader.ClassPathReaders;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.InstalledReaders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Loads from a web server, which may misbehave in every way that it can. */
class RemoteLoadTest {
    private static final int LARGE_BYTES = 20 << 20;

    @RegisterExtension
    final InstalledReaders readers = new InstalledReaders()
            .with("http", ClassPathReaders.http())
            .property("larder.reader.heap", "64m")
            .property("larder.connections", "4");

    @TempDir
    Path sources;

    private final WebServer web = new WebServer();
    private final ServedStore served = ServedStore.create();

    @AfterEach
    void close() {
        served.close();
        web.close();
        assertThat(served.readersAlive()).isEmpty();
    }

    private static byte[] bytes(Path file) throws IOException {
        return Files.readAllBytes(file);
    }

    /** Puts a large and a small array there, and something else. */
    private void putFolder() throws IOException {
        web.put("/d/large.npy", bytes(ServedStore.writeBytes(sources.resolve("large.npy"), LARGE_BYTES)));
        web.put("/d/below/small.npy", bytes(ServedStore.writeInts(sources.resolve("small.npy"), 3, 5, 8)));
        web.put("/d/read.me", "no array");
    }

    private static LoadRequest request(String dataset, String... addresses) {
        return new LoadRequest(
                Stream.of(addresses)
                        .map(address -> new LoadRequest.Source(dataset, address))
                        .toList(),
                List.of(),
                0);
    }

    private Done load(String... addresses) {
        return served.control().load(request("d", addresses), progress -> {});
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void eachShardFetchesItsOwnRowsOnlyWhereTheServerHasRanges(boolean hasRanges) throws IOException {
        putFolder();
        web.hasRanges = hasRanges;
        long listing = web.sentBytes();
        served.start();
        for (int node = 0; node < 3; node++) {
            LoadRequest request = request("shard" + node, web.address("/d/"));
            LoadOptions options = request.options().withShard(new ShardRows(node, 3));
            Done done = served.control().load(new LoadRequest(request.sources(), options, 0), progress -> {});
            assertThat(done.files()).isEqualTo(2);
        }
        long sent = web.sentBytes() - listing;

        long whole = LARGE_BYTES;
        assertThat(sent).isLessThan(hasRanges ? whole + (64 << 10) : 3 * whole + (64 << 10));
        try (Larder larder = Larder.connect(served.root())) {
            long row = 0;
            for (int node = 0; node < 3; node++) {
                try (Dataset dataset = larder.dataset("shard" + node)) {
                    long rows = dataset.array("large").shape()[0];
                    row = Math.min(row, LARGE_BYTES - rows); // the last one has some of those before
                    for (long i = 0; i < rows; i += 4099) {
                        assertThat(dataset.array("large").getInt(i)).isEqualTo((int) ((row + i) % 251));
                    }
                    row += rows;
                }
            }
            assertThat(row).isEqualTo(LARGE_BYTES);
        }
    }

    private void assertFolderIsThere() {
        try (Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset("d")) {
            assertThat(dataset.array("large").shape()).containsExactly(LARGE_BYTES);
            for (int i = 0; i < LARGE_BYTES; i += 4099) {
                assertThat(dataset.array("large").getInt(i)).isEqualTo(i % 251);
            }
            assertThat(dataset.array("large").getInt(LARGE_BYTES - 1)).isEqualTo((LARGE_BYTES - 1) % 251);
            assertThat(dataset.array("below/small").getInt(2)).isEqualTo(8);
        }
    }

    @Test
    void whatIsFetchedIsWrittenToHugePages() throws IOException {
        assumeThat(HugePages.areAvailable()).isTrue();
        ServedStore.requireInMemory();
        served.startWithoutCollapse();
        putFolder();
        web.pauseMs = 300; // long enough for the pages to be ahead

        load(web.address("/d/"));

        await().untilAsserted(
                        () -> assertThat(served.control().status().hugeBytes()).isEqualTo(LARGE_BYTES));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFolderIsReadAsOneOfThisMachineWhateverBreaksOnTheWay(boolean hasRanges) throws IOException {
        served.start();
        putFolder();
        web.hasRanges = hasRanges;
        web.busy.set(3);
        web.cut.set(2);
        List<Progress> told = new ArrayList<>();

        Done done = served.control().load(request("d", web.address("/d/")), told::add);

        assertThat(done.message()).contains("skipped 1 file of no known kind");
        assertFolderIsThere();
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
        assertThat(served.control().verify("", progress -> {}).files()).isEqualTo(2);
        assertThat(web.requests())
                .filteredOn(request -> request.startsWith("/d/read.me"))
                .hasSize(1);
        assertThat(told).anySatisfy(progress -> {
            assertThat(progress.phase()).isEqualTo(Phase.LOADING);
            assertThat(progress.bytesTotal()).isGreaterThan(LARGE_BYTES);
            assertThat(progress.bytesDone()).isPositive().isLessThanOrEqualTo(progress.bytesTotal());
        });
    }

    @Test
    void whatIsUnchangedThereIsNotFetchedAgain() throws IOException {
        served.start();
        putFolder();
        String address = web.address("/d/");
        load(address);
        long sent = web.sentBytes();
        assertThat(sent).isLessThan(LARGE_BYTES + 10_000);

        assertThat(load(address).message()).contains("d is unchanged", "its sources look unchanged");
        assertThat(web.sentBytes() - sent).isLessThan(100);
        assertThat(served.control().reload("d", progress -> {}).message())
                .contains("were read again and are unchanged");
        assertThat(served.control().verifyAgainstSources("d", progress -> {}).files())
                .isEqualTo(2);
        served.control().evict("d");
        assertFolderIsThere();
        assertThat(served.control().info("d").get(0).version()).isEqualTo(1);

        web.tag = "\"two\"";
        assertThat(load(address).message()).contains("d is unchanged", "were read again");
        web.put("/d/below/small.npy", bytes(ServedStore.writeInts(sources.resolve("small.npy"), 3, 5, 9)));
        assertThatThrownBy(() -> served.control().verifyAgainstSources("d", progress -> {}))
                .hasMessageContaining("sources differ")
                .hasMessageContaining(web.address("/d/below/small.npy"));
        web.tag = "\"three\"";
        assertThat(load(address).message()).contains("d has changed: version=2 replaces=1");
    }

    @Test
    void aRegisteredAddressIsFetchedOnceHoweverManyOpenIt() throws IOException {
        served.start();
        putFolder();
        web.pauseMs = 20;
        served.control().load(request("d", web.address("/d/")).withRegisterOnly(true), progress -> {});
        assertThat(web.requests()).isEmpty();

        List<CompletableFuture<Void>> openers = IntStream.range(0, 8)
                .mapToObj(opener -> CompletableFuture.runAsync(this::assertFolderIsThere))
                .toList();
        openers.forEach(CompletableFuture::join);

        assertThat(web.sentBytes()).isLessThan(LARGE_BYTES + 10_000);
        assertThat(web.requests())
                .filteredOn(request -> request.startsWith("/d/large.npy"))
                .hasSize(1 + 3);
    }

    @Test
    void anObjectThatChangesMeanwhileIsRefused() throws IOException {
        served.start();
        putFolder();
        web.changesAfter.set(2);

        assertThatThrownBy(() -> load(web.address("/d/")))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("it changed while it was read")
                .hasMessageContaining(web.address("/d/"));
        served.requireNothingLeft();
    }

    @ParameterizedTest
    @CsvSource({
        "/d/nothing.npy, BAD_INPUT, status=404 credentials=none",
        "/d/read.me, BAD_INPUT, its name has no known suffix",
        "/d/wrong.npy, BAD_INPUT, wrong.npy",
        "/d/short.npy, BAD_INPUT, 'it ends after 4 of 12 bytes of data'",
        "/none/, BAD_INPUT, source has nothing to load",
        "/moved/d/nothing.npy, BAD_INPUT, status=404",
    })
    void whatCannotBeReadIsSaid(String path, ErrorCode code, String said) throws IOException {
        served.start();
        putFolder();
        web.put("/d/wrong.npy", "this is no array, whatever it is called");
        byte[] small = bytes(ServedStore.writeInts(sources.resolve("small.npy"), 3, 5, 8));
        web.put("/d/short.npy", Arrays.copyOf(small, small.length - 8));

        assertThatThrownBy(() -> load(web.address(path)))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(said)
                .hasMessageContaining(web.address(path))
                .hasMessageNotContaining(served.root().toString());
        served.requireNothingLeft();
    }

    @Test
    void allThatIsNoArrayIsSaidAtOnce() throws IOException {
        served.start();
        putFolder();
        web.put("/d/one.npy", "this is no array, whatever it is called");
        web.put("/d/two.npy", new byte[] {1, 2, 3});

        assertThatThrownBy(() -> load(web.address("/d/")))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining(web.address("/d/one.npy"))
                .hasMessageContaining(web.address("/d/two.npy"));
        served.requireNothingLeft();
    }

    @Test
    void aLengthThatNoStoreHasRoomForIsRefusedBeforeAnythingIsFetched() throws IOException {
        served.start();
        putFolder();
        for (long bytes : new long[] {Long.MAX_VALUE, 1L << 50}) {
            web.claimedBytes = bytes;
            assertThatThrownBy(() -> load(web.address("/d/")))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));
            served.requireNothingLeft();
        }
        assertThat(web.sentBytes()).isLessThan(100);
    }

    @Test
    void twoObjectsOfOneNameAreRefused() throws IOException {
        served.start();
        putFolder();
        web.put("/index/", "a/small.npy\na%2Fsmall.npy\n");
        web.put("/index/a/small.npy", bytes(sources.resolve("small.npy")));

        assertThatThrownBy(() -> load(web.address("/index/"))).hasMessageContaining("the server listed it twice");
        served.requireNothingLeft();
    }

    @Test
    void aLoadThatNobodyWaitsForAnyMoreEnds() throws Exception {
        served.start();
        putFolder();
        web.pauseMs = 300;
        List<String> failures = new CopyOnWriteArrayList<>();
        Thread client = new Thread(() -> {
            try {
                load(web.address("/d/"));
            } catch (LarderException e) {
                failures.add(String.valueOf(e.getMessage()));
            }
        });
        client.start();
        awaitFetching();
        client.interrupt();
        client.join();
        assertThat(failures).hasSize(1);
        Awaitility.await().atMost(Duration.ofSeconds(10)).untilAsserted(served::requireNothingLeft);
    }

    @Test
    @Tag("slow")
    void whatIsThereStaysWhenItsPlaceIsDown() throws IOException {
        served.start();
        putFolder();
        load(web.address("/d/"));
        served.control().load(request("r", web.address("/d/below/small.npy")).withRegisterOnly(true), progress -> {});
        web.close();

        List<CompletableFuture<Void>> tries = List.of(
                CompletableFuture.runAsync(
                        () -> assertThatThrownBy(() -> served.control().reload("d", progress -> {}))
                                .hasMessageMatching("(?s).*the server does not respond \\(.*\\), tried [2-9] times.*")),
                CompletableFuture.runAsync(
                        () -> assertThatThrownBy(() -> served.control().verifyAgainstSources("d", progress -> {}))
                                .hasMessageContaining("the loaded arrays are intact")
                                .hasMessageContaining("the server does not respond")),
                CompletableFuture.runAsync(() -> {
                    try (Larder larder = Larder.connect(served.root())) {
                        assertThatThrownBy(() -> larder.dataset("r"))
                                .hasMessageContaining("the server does not respond")
                                .hasMessageContaining(web.address("/d/below/small.npy"));
                    }
                }));
        tries.forEach(CompletableFuture::join);
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
        assertFolderIsThere();
    }

    @ParameterizedTest
    @CsvSource({
        "/arrow/packed/numbers-file.arrow, numbers-file.arrow, f8, 23",
        "/arrow/columns-stream.arrow, columns-stream.arrow, '', 0",
        "'', shard.tar.zst, '', 0",
        "../readers/hdf5/src/test/resources/golden/arrays.h5, arrays.h5, layouts/chunked, 101",
    })
    void whatAReaderReadsItReadsFromAWebServerToo(String golden, String name, String array, int rows) throws Exception {
        served.start();
        readers.install("packed", ClassPathReaders.packed());
        readers.install("hdf5", ClassPathReaders.hdf5());
        Path file = sources.resolve(name);
        if (golden.isEmpty()) {
            writePackedTar(file);
        } else if (golden.startsWith("/")) {
            Files.copy(Path.of(RemoteLoadTest.class.getResource(golden).toURI()), file);
        } else {
            Files.copy(Path.of(golden), file);
        }
        web.put("/g/" + name, bytes(file));

        served.load("local", file);
        load(web.address("/g/" + name));

        assertThat(digest("d")).isEqualTo(digest("local"));
        if (!array.isEmpty()) {
            try (Larder larder = Larder.connect(served.root());
                    Dataset dataset = larder.dataset("d")) {
                assertThat(dataset.array(array).shape()[0]).isEqualTo(rows);
            }
        }
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
    }

    private String digest(String dataset) {
        return served.control().info(dataset).get(0).digest();
    }

    private static void writePackedTar(Path file) throws IOException {
        try (TarArchiveOutputStream tar =
                new TarArchiveOutputStream(new ZstdOutputStreamNoFinalizer(Files.newOutputStream(file)))) {
            for (int i = 0; i < 3; i++) {
                byte[] text = ("text " + i).getBytes(StandardCharsets.UTF_8);
                TarArchiveEntry entry = new TarArchiveEntry("sample" + i + ".txt");
                entry.setSize(text.length);
                tar.putArchiveEntry(entry);
                tar.write(text);
                tar.closeArchiveEntry();
            }
        }
    }

    @Test
    void secretsOfAnAddressReachTheServerAndNothingElse() throws IOException {
        served.start();
        putFolder();
        web.wantedAuthorization =
                "Basic " + Base64.getEncoder().encodeToString("me:hush42".getBytes(StandardCharsets.UTF_8));
        String open = web.address("/d/below/small.npy");
        String signed = open.replace("//", "//me:hush42@") + "?X-Amz-Signature=hush42&x=1";

        load(signed);
        assertThat(web.requests()).contains("/d/below/small.npy?X-Amz-Signature=hush42&x=1 bytes=0-0");
        try (Stream<Path> files = Files.walk(served.root())) {
            assertThat(files.filter(Files::isRegularFile))
                    .allSatisfy(file -> assertThat(new String(bytes(file), StandardCharsets.ISO_8859_1))
                            .doesNotContain("hush42"));
        }
        assertThat(Files.readString(served.layout().data().resolve("d/1/manifest.json")))
                .contains(open);
        assertThatThrownBy(() -> load(open))
                .hasMessageContaining("status=401 credentials=none")
                .hasMessageContaining(".netrc");
        assertThatThrownBy(() -> load(signed.replace("small", "missing")))
                .hasMessageContaining("status=404 credentials=address")
                .hasMessageNotContaining("hush42");
        assertThatThrownBy(() -> served.control().load(request("r", signed).withRegisterOnly(true), progress -> {}))
                .hasMessageContaining("cannot be registered")
                .hasMessageNotContaining("hush42");
    }

    @Test
    void columnsAndPackedFilesAndListsOfAddressesComposeWithAddresses() throws IOException {
        served.start();
        web.put("/t/rows.csv", "x,y\n1,2.5\n3,4.5\n");
        web.put("/t/list.txt", "one\ntwo\n");
        web.put("/index/", "a/rows.csv\n");
        web.put("/index/a/rows.csv", "z\n7\n");

        load(web.address("/t/rows.csv"), web.address("/moved/index/a/rows.csv"));
        served.control()
                .load(
                        new LoadRequest(
                                List.of(new LoadRequest.Source("s", web.address("/t/list.txt"))),
                                LoadOptions.none().withAs(LoadOptions.As.STRINGS),
                                0),
                        progress -> {});
        try (Larder larder = Larder.connect(served.root());
                Dataset numbers = larder.dataset("d");
                Dataset texts = larder.dataset("s")) {
            assertThat(numbers.array("y").getDouble(1)).isEqualTo(4.5);
            assertThat(numbers.array("z").getLong(0)).isEqualTo(7);
            assertThat(texts.strings("line").get(1)).isEqualTo("two");
        }
    }

    @Test
    void aKilledReaderCostsItsOwnLoadAndAKilledDaemonLeavesNothing() throws Exception {
        putFolder();
        web.pauseMs = 300;
        List<String> flags = Stream.of(ChildJvm.libraryFlags(), readers.flags())
                .flatMap(List::stream)
                .toList();
        try (ChildJvm child = ChildJvm.start(
                System.getProperty("java.class.path"),
                flags,
                DaemonProgram.class.getName(),
                served.root().toString())) {
            child.awaitLine(DaemonProgram.READY);
            List<String> failures = new CopyOnWriteArrayList<>();
            CompletableFuture<Void> first = failing(failures);
            awaitFetching();
            served.readersAlive().forEach(ProcessHandle::destroyForcibly);
            first.join();
            assertThat(failures).singleElement().asString().contains("a reader died: kind=http");
            served.requireNothingLeft();

            CompletableFuture<Void> second = failing(failures);
            awaitFetching();
            child.kill();
            second.join();
        }
        Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .until(() -> served.readersAlive().isEmpty());
        served.start();
        served.requireNothingLeft();
    }

    private CompletableFuture<Void> failing(List<String> failures) {
        return CompletableFuture.runAsync(() -> {
            try {
                load(web.address("/d/"));
            } catch (LarderException e) {
                failures.add(String.valueOf(e.getMessage()));
            }
        });
    }

    private void awaitFetching() {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> served.readersAlive().size() == 1 && isFetching());
    }

    private boolean isFetching() throws IOException {
        try (Stream<Path> files = Files.walk(served.layout().incoming())) {
            return files.anyMatch(
                    file -> file.endsWith("large.npy") && file.toFile().length() > LARGE_BYTES);
        } catch (UncheckedIOException vanished) {
            return false;
        }
    }
}
