package dev.larder.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.larder.client.Dataset;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.npy.Dtype;
import dev.larder.server.store.lock.StoreLock;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.LeaseHolder;
import dev.larder.testing.Leases;
import dev.larder.testing.RefusingPosix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A daemon that starts where another died, or where something else has been. */
class TakeOverTest {
    @TempDir
    Path sources;

    private ServedStore served;

    @BeforeEach
    void create() {
        served = ServedStore.create();
    }

    @AfterEach
    void close() {
        served.close();
    }

    @Test
    void aSecondDaemonIsRefusedWithThePidOfTheFirstAndHarmsNothing() {
        ChildJvm first = served.startProcess();
        load("d", 1);

        String refusal = served.launchProcess().awaitLine(DaemonProgram.REFUSED);

        assertThat(refusal).contains("REFUSED another daemon owns the store").contains("pid=" + first.pid());
        assertThat(served.control().status().pid()).isEqualTo(first.pid());
        assertThat(valueOf("d")).isEqualTo(1);
    }

    @Test
    void aLockThatIsRemovedBeforeItIsTakenOwnsNothing() {
        AtomicBoolean isFirst = new AtomicBoolean(true);
        Posix slow = RefusingPosix.before("tryLockExclusive", () -> {
            if (isFirst.getAndSet(false)) { // another daemon removes its store
                assertThat(served.layout().lock().toFile().delete()).isTrue();
            }
        });

        try (StoreLock lock = StoreLock.take(slow, served.layout())) {
            assertThat(lock.isInPlace()).isTrue();
        }
    }

    @Test
    void aStoreWhoseDaemonWasKilledIsTakenOverWithoutReadingSourcesAgain() throws IOException {
        ChildJvm first = served.startProcess();
        load("a", 1);
        load("b", 2);
        load("b", 3);
        first.kill();
        Files.delete(sources.resolve("a.npy"));
        Files.delete(sources.resolve("b.npy"));

        served.start();

        assertThat(valueOf("a")).isEqualTo(1);
        assertThat(valueOf("b")).isEqualTo(3);
        assertThat(served.control().list("", true))
                .hasSize(2)
                .allSatisfy(row -> assertThat(row.source()).startsWith(sources.toString()));
        assertThat(served.control().verify("", progress -> {}).files()).isEqualTo(2);
        load("b", 4);
        assertThat(versionOf("b")).isEqualTo(3);
    }

    @Test
    void rubbishOfADeadDaemonIsRemovedAndItsCatalogRebuilt() throws IOException {
        served.startProcess().kill();
        StoreLayout layout = served.layout();
        Files.createDirectories(layout.incoming().resolve("7-x/folder"));
        Files.writeString(layout.incoming().resolve("7-x/folder/a.npy"), "half");
        Files.writeString(layout.incoming().resolve("stray"), "stray");
        Files.createSymbolicLink(layout.incoming().resolve("3-link"), sources);
        Path outside = Files.writeString(sources.resolve("outside"), "not ours");
        Files.writeString(layout.catalog(), "not a catalog at all");
        Files.writeString(layout.counters(), "no counters either");
        assertThat(layout.socket()).exists();

        served.start();

        assertThat(ServedStore.entries(layout.incoming())).isEmpty();
        assertThat(outside).exists();
        load("d", 5);
        assertThat(valueOf("d")).isEqualTo(5);
    }

    @Test
    void theRecordOfADaemonThatHasStoppedHasItsStart() throws IOException {
        served.start();
        List<String> running = startsIn(served.layout().lock());

        served.control().stop(true, progress -> {});

        assertThat(startsIn(served.layout().lock())).hasSize(1).isEqualTo(running);
    }

    private static List<String> startsIn(Path lock) throws IOException {
        return Files.readAllLines(lock).stream()
                .filter(line -> line.startsWith("started="))
                .toList();
    }

    @Test
    void timesOfLastUseOutliveAStopInOrderInAFileThatTheNextDaemonTakes() throws IOException {
        Daemon first = served.start();
        load("d", 1);
        assertThat(served.layout().catalog()).doesNotExist();
        Instant lastUse = first.overview().datasets().get(0).lastUse();
        served.control().stop(true, progress -> {});
        assertThat(served.layout().catalog()).exists();

        Daemon second = served.start();

        assertThat(second.overview().datasets())
                .extracting(Overview.DatasetRow::lastUse)
                .containsExactly(lastUse);
        assertThat(served.layout().catalog()).doesNotExist();
    }

    @Test
    void aCatalogOfZerosOrOfTheWrongKindIsNoObstacleEvenAfterACleanStop() throws IOException {
        for (byte[] content :
                List.of(new byte[0], new byte[1 << 20], "garbage".repeat(1000).getBytes(UTF_8))) {
            served.start();
            load("d", 6);
            served.control().stop(true, progress -> {});
            Files.write(served.layout().catalog(), content);

            served.start();

            assertThat(valueOf("d")).isEqualTo(6);
            served.control().evict("d");
            served.control().stop(true, progress -> {});
        }
    }

    @Test
    void readersOutliveTheirDaemonAndTheNextOneCountsThem() {
        ChildJvm first = served.startProcess();
        load("d", 1);
        try (ChildJvm reader = ChildJvm.start(LeaseHolder.class, served.root().toString(), "d")) {
            reader.awaitLine("leased");
            first.kill();
            assertThat(Leases.isLeased(served.layout().version("d", 1))).isTrue();

            served.start();

            assertThat(served.control().status().clients()).isEqualTo(1);
            assertThat(served.control().list("", false).get(0).leases()).isEqualTo(1);
            assertThatThrownBy(() -> served.control().evict("d"))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("pids=[" + reader.pid() + "]");
        }
        served.control().evict("d");
    }

    @Test
    void aRetiredVersionThatIsStillReadStaysRetiredUnderTheNextDaemon() {
        ChildJvm first = served.startProcess();
        load("d", 1);
        Path old = served.layout().version("d", 1);
        try (ChildJvm reader = ChildJvm.start(LeaseHolder.class, served.root().toString(), "d")) {
            reader.awaitLine("leased 1");
            load("d", 2);
            first.kill();

            served.start();

            assertThat(valueOf("d")).isEqualTo(2);
            assertThat(old).exists();
            assertThat(served.control().status().retiredBytes()).isPositive();
        }
        Awaitility.await().until(() -> !Files.exists(old));
        assertThat(valueOf("d")).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "no index",
                "no lease",
                "no segment",
                "short segment",
                "damaged index",
                "empty index",
                "another number",
                "long segment",
                "index is a folder",
                "segment is a link"
            })
    void aVersionThatIsNotWholeIsRemovedAndComesBackFromItsSource(String damage) throws IOException {
        startWithDamage(damage);

        assertThat(served.control().list("", true)).extracting(ArrayRow::name).containsExactly("bad", "good/good");
        assertThat(served.layout().version("bad", 1)).doesNotExist();
        assertThat(valueOf("good")).isEqualTo(1);
        assertThat(valueOf("bad")).isEqualTo(2);
        assertThat(versionOf("bad"))
                .as("the next after the folder's number")
                .isEqualTo(damage.equals("another number") ? 10 : 2);
    }

    private void startWithDamage(String damage) throws IOException {
        served.start();
        load("good", 1);
        load("bad", 2);
        served.control().stop(true, progress -> {});
        damage(served.layout().version("bad", 1), damage);
        served.start();
    }

    @ParameterizedTest
    @ValueSource(strings = {"no manifest", "damaged manifest", "empty manifest"})
    void aVersionOfWhichNobodyKnowsTheSourceIsNotServed(String damage) throws IOException {
        startWithDamage(damage);

        assertThat(served.control().list("", true)).hasSize(1);
        assertThat(valueOf("good")).isEqualTo(1);
        assertThat(Files.exists(served.layout().dataset("bad").resolve("1.damaged")))
                .isEqualTo(!damage.equals("no manifest"));
        assertThatThrownBy(() -> valueOf("bad"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND));
        load("bad", 3);
        assertThat(valueOf("bad")).isEqualTo(3);
    }

    @Test
    void computedDataThatIsDamagedIsSetAsideOverEveryRestartUntilTheStoreGoes() throws IOException {
        served.start();
        try (Larder larder = Larder.connect(served.root());
                DatasetBuilder array = larder.create("c", Dtype.parse("<i4"), 3)) {
            array.publish();
        }
        served.control().stop(true, progress -> {});
        damage(served.layout().version("c", 1), "no index");
        for (int restart = 0; restart < 2; restart++) {
            served.start();
            assertThat(served.control().list("", true)).isEmpty();
            assertThat(served.layout().dataset("c").resolve("1.damaged/data.npy"))
                    .exists();
            served.control().stop(true, progress -> {});
        }
    }

    @Test
    void aWrongByteIsFoundByADaemonThatVerifies() throws IOException {
        served.start();
        load("d", 1);
        load("good", 3);
        served.control().stop(true, progress -> {});
        spoil(served.layout().version("d", 1).resolve("d.npy"));
        try (Daemon verifying = Daemon.start(
                new DaemonConfig(served.root(), OptionalLong.empty(), 1, Sharing.NONE, () -> true, true))) {
            assertThat(served.control().list("", true))
                    .extracting(ArrayRow::name, ArrayRow::state)
                    .containsExactly(
                            tuple("d", ArrayRow.State.REGISTERED), tuple("good/good", ArrayRow.State.RESIDENT));
            assertThat(valueOf("d")).isEqualTo(1);
            assertThat(verifying.isStopped()).isFalse();
        }
    }

    @Test
    void aVerificationThatIsGivenUpLeavesTheVersionAsItIs() throws IOException {
        served.start();
        load("d", 1);
        served.control().stop(true, progress -> {});
        spoil(served.layout().version("d", 1).resolve("d.npy"));
        AtomicBoolean wasAsked = new AtomicBoolean();

        DaemonConfig stopping = new DaemonConfig(
                served.root(), OptionalLong.empty(), 1, Sharing.NONE, () -> !wasAsked.getAndSet(true), true);
        try (Daemon daemon = Daemon.start(stopping)) {
            assertThat(served.control().list("", true))
                    .extracting(ArrayRow::name, ArrayRow::state)
                    .containsExactly(tuple("d/d", ArrayRow.State.RESIDENT));
            assertThat(daemon.isStopped()).isFalse();
        }
    }

    private static void spoil(Path file) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {77}), StoreLayout.DATA_START);
        }
    }

    @Tag("slow")
    @Test
    void whereTheNewestVersionIsDamagedItIsLoadedAgainAndTheOneBeforeItStaysRetired() throws IOException {
        ChildJvm first = served.startProcess();
        load("d", 1);
        try (ChildJvm reader = ChildJvm.start(LeaseHolder.class, served.root().toString(), "d")) {
            reader.awaitLine("leased 1");
            load("d", 2);
            first.kill();
            damage(served.layout().version("d", 2), "short segment");

            served.start();

            assertThat(valueOf("d")).isEqualTo(2);
            assertThat(versionOf("d")).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"7", "garbage", "../../x", "absent"})
    void aCurrentLinkThatIsWrongIsSetRight(String text) throws IOException {
        served.start();
        load("d", 1);
        served.control().stop(true, progress -> {});
        Files.delete(served.layout().current("d"));
        if (!text.equals("absent")) {
            Files.createSymbolicLink(served.layout().current("d"), Path.of(text));
        }

        served.start();

        assertThat(valueOf("d")).isEqualTo(1);
        assertThat(Files.readSymbolicLink(served.layout().current("d"))).hasToString("1");
    }

    @Test
    void strangeThingsBesideVersionsAreNoObstacle() throws IOException {
        served.start();
        load("d", 1);
        served.control().stop(true, progress -> {});
        Path data = served.layout().data();
        Files.writeString(data.resolve("file"), "in data");
        Files.createDirectories(data.resolve("empty"));
        Files.createDirectories(data.resolve("d/notes"));
        Files.writeString(data.resolve("d/readme"), "in a dataset");
        Files.createSymbolicLink(data.resolve("link"), sources);
        Files.createSymbolicLink(data.resolve("d/2"), data.resolve("d/1"));

        served.start();

        assertThat(served.control().list("", true)).hasSize(1);
        assertThat(valueOf("d")).isEqualTo(1);
        load("d", 2);
        assertThat(valueOf("d")).isEqualTo(2);
        assertThat(sources.resolve("d.npy")).exists();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\0\0\0", "pid=x\nformatVersion=", "\u00ff\u00fe"})
    void aLockFileThatSaysNothingIsNoObstacle(String content) throws IOException {
        served.start();
        load("d", 1);
        served.control().stop(true, progress -> {});
        Files.write(served.layout().lock(), content.getBytes(ISO_8859_1));

        served.start();

        assertThat(served.control().status().pid())
                .isEqualTo(ProcessHandle.current().pid());
    }

    @Test
    void whatAnotherFormatLeftIsLoadedAgainFromItsSource() throws IOException {
        served.start();
        load("d", 1);
        served.control().stop(true, progress -> {});
        String lock = Files.readString(served.layout().lock());
        Files.writeString(served.layout().lock(), lock.replaceAll("formatVersion=.*", "formatVersion=another"));

        served.start();

        assertThat(served.control().list("", true))
                .extracting(ArrayRow::state)
                .containsExactly(ArrayRow.State.REGISTERED);
        assertThat(valueOf("d")).isEqualTo(1);
    }

    private void load(String name, int value) {
        served.load(name, ServedStore.writeInts(sources.resolve(name + ".npy"), value));
    }

    private int valueOf(String name) {
        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView view = larder.open(name)) {
            return view.getInt(0);
        }
    }

    private long versionOf(String name) {
        try (Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset(name)) {
            return dataset.version();
        }
    }

    private void damage(Path version, String kind) throws IOException {
        Path index = version.resolve(StoreLayout.INDEX);
        Path manifest = version.resolve(StoreLayout.MANIFEST);
        Path segment = version.resolve("bad.npy");
        if (!Files.exists(segment, LinkOption.NOFOLLOW_LINKS)) {
            segment = version.resolve("d.npy");
        }
        switch (kind) {
            case "no index" -> Files.delete(index);
            case "no lease" -> Files.delete(version.resolve(StoreLayout.LEASE));
            case "no manifest" -> Files.delete(manifest);
            case "no segment" -> Files.delete(segment);
            case "short segment" -> truncate(segment, 4097);
            case "long segment" -> append(segment);
            case "damaged index" -> append(index);
            case "empty index" -> truncate(index, 0);
            case "damaged manifest" -> truncate(manifest, 50);
            case "empty manifest" -> truncate(manifest, 0);
            case "another number" -> Files.move(version, version.resolveSibling("9"));
            case "index is a folder" -> {
                Files.delete(index);
                Files.createDirectory(index);
            }
            case "segment is a link" -> {
                Files.move(segment, sources.resolve("segment"));
                Files.createSymbolicLink(segment, sources.resolve("segment"));
            }
            default -> throw new IllegalArgumentException(kind);
        }
    }

    private static void truncate(Path file, long length) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(length);
        }
    }

    private static void append(Path file) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Files.write(file, new byte[] {1}, StandardOpenOption.APPEND);
    }
}
