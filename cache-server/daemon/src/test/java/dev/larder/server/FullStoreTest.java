package dev.larder.server;

import static dev.larder.server.StoreKind.TMPFS_NEVER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.npy.Dtype;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Folders;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Daemons whose file system is too small for what they are asked, with a capacity that does not know it. */
class FullStoreTest {
    private static final String ANY_CAPACITY = Long.toString(ServedStore.ANY_CAPACITY);

    @TempDir
    Path sources;

    @StoreMatrix(on = TMPFS_NEVER, size = "16m")
    void aSourceThatIsLargerThanTheMountIsRefusedBeforeItIsRead(ServedStore served) {
        ChildJvm daemon = served.startProcess(ANY_CAPACITY);

        assertIsFull(served, ServedStore.writeHole(sources.resolve("a.npy"), 100 << 20));

        assertThat(daemon.isAlive()).isTrue();
        assertIsEmptyAndServes(served);
    }

    @StoreMatrix(on = TMPFS_NEVER)
    void sourcesWhoseSizesOverflowTogetherAreRefusedBeforeTheyAreRead(ServedStore served) {
        try (TinyTmpfs holes = TinyTmpfs.mount("size=1m")) {
            ChildJvm daemon = served.startProcess(Integer.toString(50 << 20));
            ServedStore.writeHole(holes.folder().resolve("a/x.npy"), 5L << 60);
            ServedStore.writeHole(holes.folder().resolve("a/y.npy"), 5L << 60);

            assertIsFull(served, holes.folder().resolve("a"));
            assertIsFull(served, holes.folder().resolve("a/x.npy"));

            assertThat(daemon.isAlive()).isTrue();
            assertIsEmptyAndServes(served);
        }
    }

    @Tag("slow")
    @StoreMatrix(on = TMPFS_NEVER)
    void aBuildOfUnknownSizeMayFillMoreThanHalfOfTheMount(ServedStore served) {
        served.startProcess(ANY_CAPACITY);
        try (Larder larder = Larder.connect(served.root())) {
            try (DatasetBuilder builder = larder.build("made")) {
                builder.array("large", Dtype.parse("|u1"), 36 << 20).write((36 << 20) - 1, new byte[] {7});
                builder.publish();
            }
            try (OwnedArrayView large = larder.open("made")) {
                assertThat(large.getInt((36 << 20) - 1)).isEqualTo(7);
            }
        }
    }

    @StoreMatrix(
            on = TMPFS_NEVER,
            size = {"64k", "9m", "10300k", "13400k", "24m"})
    void aMountOfAnySizeIsServedOrRefusedButNeverKillsTheDaemon(ServedStore served) {
        loadOrBeRefused(served, ServedStore.writeBytes(sources.resolve("a.npy"), 3 << 20));
    }

    @Tag("slow")
    @StoreMatrix(
            on = TMPFS_NEVER,
            size = {"10m", "11m", "13m", "14m"})
    void aMountOfAnyOtherSizeIsToo(ServedStore served) {
        aMountOfAnySizeIsServedOrRefusedButNeverKillsTheDaemon(served);
    }

    @StoreMatrix(
            on = TMPFS_NEVER,
            size = "64m,nr_inodes=%d",
            number = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20})
    void aMountWithAnyNumberOfInodesIsServedOrRefused(ServedStore served) {
        ServedStore.writeInts(sources.resolve("folder/b.npy"), 1);
        ServedStore.writeInts(sources.resolve("a.npy"), 1);
        loadOrBeRefusedHere(served, sources);
    }

    @StoreMatrix(on = TMPFS_NEVER, size = "16m")
    void aMountThatIsFilledByOthersToTheLastPageDoesNotKillTheDaemon(ServedStore served) throws IOException {
        ServedStore.writeInts(sources.resolve("a.npy"), 1, 2, 3);
        ChildJvm daemon = served.startProcess(ANY_CAPACITY);
        for (int i = 0; i < 60; i++) {
            Path filler = served.fillMount(i % 3 == 0 ? i / 3 % 8 : 4);
            loadOrBeFull(served, "d" + i);
            assertThat(served.control().status().uptime()).isPositive();
            Files.delete(filler);
        }
        assertThat(served.control().verify("", progress -> {}).files()).isPositive();
        assertThat(daemon.isAlive()).isTrue();
    }

    @StoreMatrix(on = TMPFS_NEVER, size = "32m")
    void aStoreOnAFullMountIsTakenOverWithItsComputedDataAfterItsDaemonWasKilled(ServedStore served)
            throws IOException {
        ChildJvm first = served.startProcess(ANY_CAPACITY);
        build(served, "made");
        served.fillMount(0);
        first.kill();

        served.startProcess(ANY_CAPACITY);

        assertThat(served.control().verify("made", progress -> {}).files()).isEqualTo(1);
        served.control().evict("made");
        build(served, "again", 4 << 20);
    }

    @Tag("slow")
    @StoreMatrix(on = TMPFS_NEVER, size = "32m")
    void aStopOnAFullMountKeepsTheDataAndLosesOnlyTheTimesOfLastUse(ServedStore served) throws IOException {
        served.startProcess(ANY_CAPACITY);
        build(served, "made");
        served.fillMount(0);

        served.control().stop(true, progress -> {});

        assertThat(served.layout().catalog()).doesNotExist();
        served.startProcess(ANY_CAPACITY);
        assertThat(served.control().verify("made", progress -> {}).files()).isEqualTo(1);
    }

    @Tag("slow")
    @StoreMatrix(on = TMPFS_NEVER, size = "64m,nr_inodes=60")
    void anEvictedDatasetIsKnownToTheNextDaemonThoughNoInodeWasLeftForItsNote(ServedStore served) throws IOException {
        Path source = ServedStore.writeInts(sources.resolve("a.npy"), 1, 2, 3);
        ChildJvm first = served.startProcess(ANY_CAPACITY);
        served.load("d", source);
        Path filler = useUpInodes(served.root().resolveSibling(""));

        served.control().evict("d");

        assertThat(served.layout().registered("d")).exists();
        assertThat(served.layout().version("d", 1)).doesNotExist();
        Folders.remove(filler);
        first.kill();
        served.startProcess(ANY_CAPACITY);
        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView array = larder.open("d")) {
            assertThat(array.getInt(2)).isEqualTo(3);
        }
    }

    @StoreMatrix(on = TMPFS_NEVER, size = "16m")
    void aRefusalNamesTheSpaceForIndexAndManifestWithoutWhichTheDataWouldFit(ServedStore served) throws IOException {
        Path source = ServedStore.writeInts(sources.resolve("a.npy"), 1, 2, 3);
        served.startProcess(ANY_CAPACITY);
        served.fillMount(2);

        assertThatThrownBy(() -> served.load("d", source))
                .hasMessageContaining("needed=8192 free=8192 ")
                .hasMessageContainingAll(" reserved=0 capacity=" + ANY_CAPACITY, " metadata=");
    }

    private static Path useUpInodes(Path folder) throws IOException {
        Path filler = Files.createDirectory(folder.resolve("filler"));
        for (int i = 0; ; i++) {
            try {
                Files.createFile(filler.resolve(Integer.toString(i)));
            } catch (FileSystemException full) {
                return filler;
            }
        }
    }

    private static void build(ServedStore served, String name) {
        build(served, name, 5 << 20);
    }

    private static void build(ServedStore served, String name, int length) {
        try (Larder larder = Larder.connect(served.root());
                DatasetBuilder builder = larder.create(name, Dtype.parse("|u1"), length)) {
            builder.publish();
        }
    }

    private void loadOrBeFull(ServedStore served, String name) {
        try {
            served.load(name, sources);
        } catch (LarderException e) {
            assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE);
        }
    }

    /** Starts a daemon in a process of its own, because a mount that is too small for a mapping kills one. */
    private static void loadOrBeRefused(ServedStore served, Path source) {
        ChildJvm daemon = served.launchProcess(ANY_CAPACITY);
        String line = daemon.awaitLine("re"); // ready, or refused
        if (line.startsWith(DaemonProgram.REFUSED)) {
            assertThat(line).containsIgnoringCase("space");
            assertThat(daemon.awaitExit()).isZero();
            return;
        }
        loadAndForgetOrBeFull(served, source);
        served.control().stop(false, progress -> {});
        assertThat(daemon.awaitLine(DaemonProgram.STOPPED)).isEqualTo(DaemonProgram.STOPPED);
        assertThat(Files.exists(served.root())).isFalse();
    }

    /** Starts a daemon in this process: nothing that it lacks an inode for can kill it, and it starts ten times as fast. */
    private static void loadOrBeRefusedHere(ServedStore served, Path source) {
        Daemon daemon;
        try {
            daemon = served.start(OptionalLong.of(ServedStore.ANY_CAPACITY));
        } catch (LarderException refused) {
            assertThat(refused.code()).as(refused.getMessage()).isEqualTo(ErrorCode.NO_SPACE);
            return;
        }
        loadAndForgetOrBeFull(served, source);
        served.control().stop(false, progress -> {});
        daemon.awaitStop();
        assertThat(Files.exists(served.root())).isFalse();
    }

    private static void loadAndForgetOrBeFull(ServedStore served, Path source) {
        try {
            served.load("d", source);
            assertThat(served.control().verify("d", progress -> {}).files()).isPositive();
            served.control().evict("d");
            served.control().forget("d");
        } catch (LarderException e) {
            assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE);
        }
        assertIsEmptyAndServes(served);
    }

    private static void assertIsFull(ServedStore served, Path source) {
        assertThatThrownBy(() -> served.load("d", source))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));
    }

    private static void assertIsEmptyAndServes(ServedStore served) {
        assertThat(served.control().list("", true)).isEmpty();
        served.requireNothingLeft();
        assertThat(served.control().status().usedBytes()).isZero();
    }
}
