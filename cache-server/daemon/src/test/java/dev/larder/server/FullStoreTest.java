package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.posix.Posix;
import dev.larder.npy.Dtype;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Folders;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Daemons whose file system is too small for what they are asked, with a capacity that does not know it. */
class FullStoreTest {
    private static final String ANY_CAPACITY = Long.toString(ServedStore.ANY_CAPACITY);

    @TempDir
    Path sources;

    @Test
    void aSourceThatIsLargerThanTheMountIsRefusedBeforeItIsRead() {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=16m");
                ServedStore served = ServedStore.at(tiny.folder().resolve("store"))) {
            ChildJvm daemon = served.startProcess(ANY_CAPACITY);

            assertIsFull(served, ServedStore.writeHole(sources.resolve("a.npy"), 100 << 20));

            assertThat(daemon.isAlive()).isTrue();
            assertIsEmptyAndServes(served);
        }
    }

    @Test
    void sourcesWhoseSizesOverflowTogetherAreRefusedBeforeTheyAreRead() {
        try (TinyTmpfs holes = TinyTmpfs.mount("size=1m");
                TinyTmpfs tiny = TinyTmpfs.mount("size=64m");
                ServedStore served = ServedStore.at(tiny.folder().resolve("store"))) {
            ChildJvm daemon = served.startProcess(Integer.toString(50 << 20));
            ServedStore.writeHole(holes.folder().resolve("a/x.npy"), 5L << 60);
            ServedStore.writeHole(holes.folder().resolve("a/y.npy"), 5L << 60);

            assertIsFull(served, holes.folder().resolve("a"));
            assertIsFull(served, holes.folder().resolve("a/x.npy"));

            assertThat(daemon.isAlive()).isTrue();
            assertIsEmptyAndServes(served);
        }
    }

    @Test
    void aBuildOfUnknownSizeMayFillMoreThanHalfOfTheMount() {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=64m");
                ServedStore served = ServedStore.at(tiny.folder().resolve("store"))) {
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
    }

    @ParameterizedTest
    @ValueSource(strings = {"64k", "9m", "10m", "10300k", "11m", "13m", "13400k", "14m", "24m"})
    void aMountOfAnySizeIsServedOrRefusedButNeverKillsTheDaemon(String size) {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=" + size);
                ServedStore served = ServedStore.at(tiny.folder().resolve("store"))) {
            loadOrBeRefused(served, ServedStore.writeBytes(sources.resolve("a.npy"), 3 << 20));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20})
    void aMountWithAnyNumberOfInodesIsServedOrRefused(int inodes) {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=64m,nr_inodes=" + inodes);
                ServedStore served = ServedStore.at(tiny.folder().resolve("store"))) {
            ServedStore.writeInts(sources.resolve("folder/b.npy"), 1);
            ServedStore.writeInts(sources.resolve("a.npy"), 1);
            loadOrBeRefusedHere(served, sources);
        }
    }

    @Test
    void aMountThatIsFilledByOthersToTheLastPageDoesNotKillTheDaemon() throws IOException {
        ServedStore.writeInts(sources.resolve("a.npy"), 1, 2, 3);
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=16m");
                ServedStore served = ServedStore.at(tiny.folder().resolve("store"))) {
            ChildJvm daemon = served.startProcess(ANY_CAPACITY);
            for (int i = 0; i < 60; i++) {
                Path filler = fill(tiny.folder().resolve("filler"), i % 3 == 0 ? i / 3 % 8 : 4);
                loadOrBeFull(served, "d" + i);
                assertThat(served.control().status().uptime()).isPositive();
                Files.delete(filler);
            }
            assertThat(served.control().verify("", progress -> {}).files()).isPositive();
            assertThat(daemon.isAlive()).isTrue();
        }
    }

    @Test
    void aStoreOnAFullMountIsTakenOverWithItsComputedDataAfterItsDaemonWasKilled() throws IOException {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=32m");
                ServedStore served = ServedStore.at(tiny.folder().resolve("store"))) {
            ChildJvm first = served.startProcess(ANY_CAPACITY);
            build(served, "made");
            fill(tiny.folder().resolve("filler"), 0);
            first.kill();

            served.startProcess(ANY_CAPACITY);

            assertThat(served.control().verify("made", progress -> {}).files()).isEqualTo(1);
            served.control().evict("made");
            build(served, "again", 4 << 20);
        }
    }

    @Test
    void aStopOnAFullMountKeepsTheDataAndLosesOnlyTheTimesOfLastUse() throws IOException {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=32m");
                ServedStore served = ServedStore.at(tiny.folder().resolve("store"))) {
            served.startProcess(ANY_CAPACITY);
            build(served, "made");
            fill(tiny.folder().resolve("filler"), 0);

            served.control().stop(true, progress -> {});

            assertThat(served.layout().catalog()).doesNotExist();
            served.startProcess(ANY_CAPACITY);
            assertThat(served.control().verify("made", progress -> {}).files()).isEqualTo(1);
        }
    }

    @Test
    void anEvictedDatasetIsKnownToTheNextDaemonThoughNoInodeWasLeftForItsNote() throws IOException {
        Path source = ServedStore.writeInts(sources.resolve("a.npy"), 1, 2, 3);
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=64m,nr_inodes=60");
                ServedStore served = ServedStore.at(tiny.folder().resolve("store"))) {
            ChildJvm first = served.startProcess(ANY_CAPACITY);
            served.load("d", source);
            Path filler = useUpInodes(tiny.folder());

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
    }

    @Test
    void aRefusalNamesTheSpaceForIndexAndManifestWithoutWhichTheDataWouldFit() throws IOException {
        Path source = ServedStore.writeInts(sources.resolve("a.npy"), 1, 2, 3);
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=16m");
                ServedStore served = ServedStore.at(tiny.folder().resolve("store"))) {
            served.startProcess(ANY_CAPACITY);
            fill(tiny.folder().resolve("filler"), 2);

            assertThatThrownBy(() -> served.load("d", source))
                    .hasMessageContaining("needed=8192 free=8192 ")
                    .hasMessageContainingAll(" reserved=0 capacity=" + ANY_CAPACITY, " metadata=");
        }
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

    /** Takes all pages of the mount but so many. */
    private static Path fill(Path filler, int pagesLeft) throws IOException {
        long free = Files.getFileStore(filler.getParent()).getUsableSpace();
        Posix posix = Posix.system();
        int descriptor = posix.openOrCreate(filler, 0600);
        posix.reserve(descriptor, 0, free - pagesLeft * 4096L);
        posix.close(descriptor);
        return filler;
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
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
        assertThat(ServedStore.entries(served.layout().data())).isEmpty();
        assertThat(served.control().status().usedBytes()).isZero();
    }
}
