package dev.larder.server;

import static dev.larder.server.StoreKind.TMPFS_ADVISE;
import static dev.larder.server.StoreKind.TMPFS_ALWAYS;
import static dev.larder.server.StoreKind.TMPFS_NEVER;
import static dev.larder.server.StoreKind.TMPFS_WITHIN_SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.HugePages;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.RawMemory;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.npy.Dtype;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Folders;
import dev.larder.testing.LeavesNothingBehind;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Loads on mounts with and without huge pages: the ways to copy differ, what comes of it does not. */
@Timeout(300)
class HugePagesTest {
    private static final int SEED = 20_260_101;
    private static final int MIB = 1 << 20;
    private static final int HEAD_BYTES = StoreLayout.DATA_START;

    /**
     * The number of files that the kernel may refuse huge pages. After it has failed to compact memory, it refuses up to 64 requests without
     * trying again, and a file ends after some of them.
     */
    private static final int MOST_REFUSED = 2 * 64 / HugePages.MOST_REFUSALS;

    @TempDir
    Path sources;

    @StoreMatrix(on = {TMPFS_NEVER, TMPFS_ADVISE, TMPFS_WITHIN_SIZE, TMPFS_ALWAYS})
    void bytesArriveAsTheyAreAndTakeNoMoreThanTheyAreLong(ServedStore served, StoreKind kind) throws IOException {
        Path large = ServedStore.writeBytes(sources.resolve("large.npy"), 13 * MIB + 7);
        Path small = ServedStore.writeInts(sources.resolve("small.npy"), 1, 2, 3);
        served.start();

        served.load("d", sources);

        assertHasDataOf(large, 13 * MIB + 7, served.layout().version("d", 1).resolve("large.npy"));
        assertHasDataOf(small, 12, served.layout().version("d", 1).resolve("small.npy"));
        int manifestBytes = kind == TMPFS_ALWAYS ? 4 * MIB : 0; // index and manifest take a huge page each
        assertThat(served.control().status().usedBytes()).isEqualTo(13 * MIB + 4 * PageSize.BYTES + manifestBytes);
    }

    @StoreMatrix(on = {TMPFS_NEVER, TMPFS_ADVISE, TMPFS_ALWAYS})
    void wholePiecesOfWhatIsLoadedAndBuiltLieOnHugePages(ServedStore served) {
        requireHugePages();
        ServedStore.writeBytes(sources.resolve("large.npy"), 13 * MIB + 7);
        served.startWithoutCollapse(); // so that whatever is on huge pages was written to them

        served.load("loaded", sources);
        awaitHugeBytes(served, 12 * MIB);
        build(served, "built", 5 * MIB);

        awaitHugeBytes(served, (12 + 4) * MIB);
        assertThat(readsOnHugePages(served, "loaded")).isEqualTo(12 * MIB);
        assertThat(readsOnHugePages(served, "built")).isEqualTo(4 * MIB);
    }

    @StoreMatrix(on = TMPFS_NEVER)
    void wholePiecesOfARegionLieOnHugePages(ServedStore served) {
        requireHugePages();
        served.start();
        RegionRow region = served.control().createRegion("weights", "test", 5 * MIB);
        int descriptor = Posix.system().openForWriting(region.file());
        long bytes = RegionDescriptor.DATA_OFFSET + 5 * MIB;
        long address = BulkIo.system().mapWritable(descriptor, 0, bytes);

        for (long at = 0; at < bytes; at += PageSize.BYTES) {
            RawMemory.getByte(address + at);
        }

        assertThat(HugePages.mappedBytes(List.of(address))).isEqualTo(4 * MIB);
        Posix.system().unmap(address, bytes);
        Posix.system().close(descriptor);
    }

    @Test
    void whatIsWrittenWhileAFileIsPreparedStays() throws IOException {
        requireHugePages();
        ServedStore.requireInMemory();
        byte[] bytes = new byte[32 * MIB + 7];
        new Random(SEED).nextBytes(bytes);

        int refused = 0;
        while (refused < MOST_REFUSED && !prepareWhileWriting(bytes)) {
            refused++;
            requireHugePages();
        }

        assertThat(refused).as("files that were not prepared to their end").isLessThan(MOST_REFUSED);
    }

    /** Writes bytes to a new file while it is prepared, and asserts that it has them. Returns false if the kernel refused huge pages. */
    private static boolean prepareWhileWriting(byte[] bytes) throws IOException {
        Path path = LeavesNothingBehind.newFolder().resolve("file");
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate(1), bytes.length - 1); // so that it has its length
            CompletableFuture<Boolean> isWhole = CompletableFuture.supplyAsync(() -> prepare(path, bytes.length));

            for (int at = 0; at < bytes.length; at += MIB / 3) {
                file.write(ByteBuffer.wrap(bytes, at, Math.min(MIB / 3, bytes.length - at)), at);
            }

            boolean wasPrepared = isWhole.join();
            assertThat(Arrays.equals(Files.readAllBytes(path), bytes)).isTrue();
            return wasPrepared;
        } finally {
            Folders.remove(path.resolveSibling(""));
        }
    }

    private static boolean prepare(Path file, long length) {
        Posix posix = Posix.system();
        int descriptor = posix.openForWriting(file);
        try {
            return HugePages.prepare(posix, descriptor, length, () -> true);
        } finally {
            posix.close(descriptor);
        }
    }

    @Tag("slow")
    @StoreMatrix(on = TMPFS_NEVER)
    void aKernelThatRefusesHugePagesIsToldAndNothingElseChanges(ServedStore served) throws IOException {
        requireHugePages();
        Path large = ServedStore.writeBytes(sources.resolve("large.npy"), 13 * MIB + 7);
        served.launchProcess(NoHugePagesDaemonProgram.class).awaitLine(DaemonProgram.READY);

        served.load("d", sources);
        served.control().createRegion("weights", "test", 5 * MIB);

        assertHasDataOf(large, 13 * MIB + 7, served.layout().version("d", 1).resolve("large.npy"));
        await().untilAsserted(() ->
                assertThat(served.control().status().hugeRefusedBytes()).isEqualTo(12 * MIB));
        assertThat(served.control().status().hugeBytes()).isZero();
        assertThat(readsOnHugePages(served, "d")).isZero();
    }

    @StoreMatrix(on = TMPFS_NEVER)
    void whatLiesOnSmallPagesMovesToHugeOnesUnderItsReaders(ServedStore served) throws IOException {
        requireHugePages();
        ServedStore.writeBytes(sources.resolve("a.npy"), 13 * MIB);
        keepOnSmallPages(served);

        Daemon waiting = served.startWithoutCollapse();
        try (Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset("d")) {
            byte[] before = read(dataset);
            assertThat(readsOnHugePages(dataset)).isZero();
            waiting.stop(true);

            served.start();

            awaitHugeBytes(served, 12 * MIB);
            assertThat(read(dataset)).isEqualTo(before);
        }
    }

    @Tag("slow")
    @StoreMatrix(on = TMPFS_NEVER, size = "128m")
    void aDaemonThatIsKilledWhileItMovesPagesHarmsNobody(ServedStore served) throws IOException {
        requireHugePages();
        ServedStore.writeBytes(sources.resolve("a.npy"), 64 * MIB);
        keepOnSmallPages(served);
        try (ChildJvm child = served.startProcess();
                Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset("d")) {
            await().pollInterval(Duration.ofMillis(1)).until(() -> touchesHugePages(dataset));
            child.kill();

            assertThat(read(dataset)).isEqualTo(expected(64 * MIB));
            served.start();
            awaitHugeBytes(served, 64 * MIB);
            assertThat(read(dataset)).isEqualTo(expected(64 * MIB));
        }
    }

    @Test
    void daemonsOfOneMountMoveTheirPagesSideBySide() throws IOException {
        requireHugePages();
        ServedStore.writeBytes(sources.resolve("a.npy"), 24 * MIB);
        try (TinyTmpfs mount = TinyTmpfs.mount("size=96m,huge=never");
                ServedStore one = ServedStore.at(mount.folder().resolve("one"));
                ServedStore other = ServedStore.at(mount.folder().resolve("other"))) {
            keepOnSmallPages(one);
            keepOnSmallPages(other);

            one.start();
            other.start();

            awaitHugeBytes(one, 24 * MIB);
            awaitHugeBytes(other, 24 * MIB);
            assertThat(one.control().verify("d", progress -> {}).files()).isEqualTo(1);
            assertThat(other.control().verify("d", progress -> {}).files()).isEqualTo(1);
        }
    }

    /** Leaves a store with a dataset {@code d} of one array that lies on small pages. */
    private void keepOnSmallPages(ServedStore served) throws IOException {
        Daemon daemon = served.startWithoutCollapse();
        served.load("d", sources);
        Path file = served.layout().version("d", 1).resolve("a.npy");
        daemon.stop(true);
        putOnSmallPages(file);
    }

    private static byte[] expected(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i % 251);
        }
        return bytes;
    }

    /** Copies a file in place, as an older release would have written it. */
    private static void putOnSmallPages(Path file) throws IOException {
        Path copy = file.resolveSibling("copy");
        try (FileChannel from = FileChannel.open(file);
                FileChannel to = FileChannel.open(copy, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.allocate((int) from.size());
            from.read(bytes);
            to.write(bytes.flip());
        }
        Files.setPosixFilePermissions(copy, Files.getPosixFilePermissions(file));
        Files.move(copy, file, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void requireHugePages() {
        assumeThat(HugePages.areAvailable())
                .as("the kernel gives no huge pages on request")
                .isTrue();
    }

    private static void awaitHugeBytes(ServedStore served, long bytes) {
        await().atMost(Duration.ofMinutes(3)) // a piece that was refused is asked for again after a minute
                .untilAsserted(
                        () -> assertThat(served.control().status().hugeBytes()).isEqualTo(bytes));
    }

    private static void build(ServedStore served, String name, int length) {
        try (Larder larder = Larder.connect(served.root());
                DatasetBuilder builder = larder.create(name, Dtype.parse("|u1"), length)) {
            builder.array().write(0, ByteBuffer.allocate(length));
            builder.publish();
        }
    }

    private static long readsOnHugePages(ServedStore served, String name) {
        try (Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset(name)) {
            return readsOnHugePages(dataset);
        }
    }

    /** Reads a dataset of one array, and tells how much of it the kernel has mapped for that with huge pages. */
    private static long readsOnHugePages(Dataset dataset) {
        read(dataset);
        return mappedHuge(dataset);
    }

    private static long mappedHuge(Dataset dataset) {
        long address = BulkIo.system().addressOf(data(dataset)) - HEAD_BYTES;
        return HugePages.mappedBytes(List.of(address));
    }

    private static boolean touchesHugePages(Dataset dataset) {
        ByteBuffer data = data(dataset);
        int sum = 0;
        for (int at = 0; at < data.limit(); at += MIB) {
            sum += data.get(at);
        }
        return sum != 0 && mappedHuge(dataset) > 0;
    }

    private static ByteBuffer data(Dataset dataset) {
        ArrayView array = dataset.array(dataset.arrayNames().get(0));
        return array.byteBuffer(0, array.rows());
    }

    private static byte[] read(Dataset dataset) {
        ByteBuffer data = data(dataset);
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        return bytes;
    }

    private static void assertHasDataOf(Path source, int length, Path stored) throws IOException {
        byte[] expected = Files.readAllBytes(source);
        byte[] found = Files.readAllBytes(stored);
        assertThat(found).hasSize(HEAD_BYTES + length);
        assertThat(Arrays.equals(
                        found,
                        found.length - length,
                        found.length,
                        expected,
                        expected.length - length,
                        expected.length))
                .isTrue();
    }

    @StoreMatrix(
            on = {TMPFS_NEVER, TMPFS_ADVISE, TMPFS_ALWAYS},
            size = "80m",
            number = {1, 2})
    void aMountThatOthersFillInMidLoadRefusesWithItsNumbersAndGoesOn(ServedStore served, int workers)
            throws IOException {
        Path source = ServedStore.writeBytes(sources.resolve("a.npy"), 48 * MIB);
        Daemon daemon = served.start(OptionalLong.of(ServedStore.ANY_CAPACITY));
        Path filler = served.root().resolveSibling("filler");
        AtomicBoolean filled = new AtomicBoolean();

        assertThatThrownBy(() -> daemon.load(request(source, workers), progress -> {
                    if (progress.bytesDone() > 0 && filled.compareAndSet(false, true)) {
                        fill(filler);
                    }
                }))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                .hasMessageContaining("needed=" + (48 * MIB + HEAD_BYTES))
                .hasMessageContaining("free=");

        assertNothingIsLeft(served);
        Files.delete(filler);
        served.load("d", source);
    }

    /** Takes all that is free but some pages, while one copying thread, who tells the progress, has to wait. */
    private static void fill(Path filler) {
        Posix posix = Posix.system();
        int descriptor = posix.openOrCreate(filler, 0600);
        long taken = 0;
        try {
            for (; ; taken += MIB) {
                posix.reserve(descriptor, taken, MIB);
            }
        } catch (LarderException full) {
            BulkIo.system().resize(descriptor, taken - 64 * 1024);
        } finally {
            posix.close(descriptor);
        }
    }

    @StoreMatrix(
            on = {TMPFS_NEVER, TMPFS_ADVISE, TMPFS_ALWAYS},
            size = "80m")
    void aSourceThatIsTruncatedInMidReadIsRefusedByName(ServedStore served) throws IOException {
        Path source = ServedStore.writeBytes(sources.resolve("a.npy"), 48 * MIB);
        try (FileChannel channel = FileChannel.open(source, StandardOpenOption.WRITE)) {
            Daemon daemon = served.start(OptionalLong.of(ServedStore.ANY_CAPACITY));

            assertThatThrownBy(() -> daemon.load(request(source, 1), progress -> {
                        if (progress.bytesDone() > 0) {
                            truncate(channel, 5 * MIB + 1);
                        }
                    }))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining(source.toString());

            assertNothingIsLeft(served);
        }
    }

    private static void truncate(FileChannel channel, long length) {
        try {
            channel.truncate(length);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Tag("slow")
    @StoreMatrix(
            on = {TMPFS_NEVER, TMPFS_ADVISE, TMPFS_ALWAYS},
            size = "80m")
    void aCopyingThreadThatDiesEndsTheLoadWithItsReason(ServedStore served, StoreKind kind) {
        Path source = ServedStore.writeBytes(sources.resolve("a.npy"), 48 * MIB);
        Daemon daemon = served.start(OptionalLong.of(ServedStore.ANY_CAPACITY));

        assertThatThrownBy(() -> daemon.load(request(source, 2), progress -> {
                    if (progress.bytesDone() > 0 && progress.phase() == Progress.Phase.LOADING) {
                        die(kind);
                    }
                }))
                .hasMessageContaining("made up");

        assertNothingIsLeft(served);
        served.load("d", source);
    }

    private static void die(StoreKind kind) {
        if (kind == TMPFS_ALWAYS) {
            throw new IllegalStateException("made up");
        }
        throw new OutOfMemoryError("made up");
    }

    @StoreMatrix(
            on = {TMPFS_ADVISE, TMPFS_ALWAYS},
            size = "80m")
    void aDaemonThatIsStoppedInMidLoadLeavesNothing(ServedStore served) throws Exception {
        Random random = new Random(SEED);
        ServedStore.writeBytes(sources.resolve("a.npy"), 40 * MIB);
        for (int round = 0; round < 10; round++) {
            Daemon daemon = served.start(OptionalLong.of(ServedStore.ANY_CAPACITY));
            CompletableFuture<?> load = CompletableFuture.runAsync(() -> served.load("d", sources));
            LockSupport.parkNanos(random.nextLong(TimeUnit.MILLISECONDS.toNanos(40))); // to stop it at any moment

            daemon.stop(false);

            assertThat(served.root()).as("seed=" + SEED + " round=" + round).doesNotExist();
            load.handle((done, failure) -> done).get(60, TimeUnit.SECONDS);
        }
    }

    private static LoadRequest request(Path source, int workers) {
        return new LoadRequest(List.of(new LoadRequest.Source("d", source.toString())), List.of(), workers);
    }

    private static void assertNothingIsLeft(ServedStore served) {
        assertThat(served.control().list("", true)).isEmpty();
        served.requireNothingLeft();
    }
}
