package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Loads on mounts with and without huge pages: the ways to copy differ, what comes of it does not. */
@Timeout(300)
class HugePagesTest {
    private static final int SEED = 20_260_101;
    private static final int MIB = 1 << 20;
    private static final int HEAD_BYTES = 4096;

    @TempDir
    Path sources;

    @ParameterizedTest
    @ValueSource(strings = {"never", "advise", "within_size", "always"})
    void bytesArriveAsTheyAreAndTakeNoMoreThanTheyAreLong(String huge) throws IOException {
        Path large = ServedStore.writeBytes(sources.resolve("large.npy"), 13 * MIB + 7);
        Path small = ServedStore.writeInts(sources.resolve("small.npy"), 1, 2, 3);
        try (TinyTmpfs mount = TinyTmpfs.mount("size=64m,huge=" + huge);
                ServedStore served = ServedStore.at(mount.folder().resolve("store"))) {
            served.start();

            served.load("d", sources);

            assertThat(served.control().verify("d", progress -> {}).files()).isEqualTo(2);
            assertHasDataOf(large, 13 * MIB + 7, served.layout().version("d", 1).resolve("large.npy"));
            assertHasDataOf(small, 12, served.layout().version("d", 1).resolve("small.npy"));
            int manifestBytes = huge.equals("always") ? 4 * MIB : 0; // index and manifest take a huge page each
            assertThat(served.control().status().usedBytes()).isEqualTo(13 * MIB + 4 * HEAD_BYTES + manifestBytes);
        }
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

    @ParameterizedTest
    @CsvSource({"never,1", "never,2", "advise,1", "advise,2", "within_size,2", "always,1", "always,2"})
    void aMountThatOthersFillInMidLoadRefusesWithItsNumbersAndGoesOn(String huge, int workers) throws IOException {
        Path source = ServedStore.writeBytes(sources.resolve("a.npy"), 48 * MIB);
        try (TinyTmpfs mount = TinyTmpfs.mount("size=80m,huge=" + huge);
                ServedStore served = ServedStore.at(mount.folder().resolve("store"))) {
            Daemon daemon = served.start(OptionalLong.of(ServedStore.ANY_CAPACITY));
            Path filler = mount.folder().resolve("filler");
            AtomicBoolean filled = new AtomicBoolean();

            assertThatThrownBy(() -> daemon.load(request(source, workers), progress -> {
                        if (progress.bytesDone() > 0 && filled.compareAndSet(false, true)) {
                            fill(filler);
                        }
                    }))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                    .hasMessageContaining("needed=" + (48 * MIB + 4096))
                    .hasMessageContaining("free=");

            assertNothingIsLeft(served);
            Files.delete(filler);
            served.load("d", source);
            assertThat(served.control().verify("d", progress -> {}).files()).isEqualTo(1);
        }
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

    @ParameterizedTest
    @ValueSource(strings = {"never", "advise", "always"})
    void aSourceThatIsTruncatedInMidReadIsRefusedByName(String huge) throws IOException {
        Path source = ServedStore.writeBytes(sources.resolve("a.npy"), 48 * MIB);
        try (TinyTmpfs mount = TinyTmpfs.mount("size=80m,huge=" + huge);
                ServedStore served = ServedStore.at(mount.folder().resolve("store"));
                FileChannel channel = FileChannel.open(source, StandardOpenOption.WRITE)) {
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

    @ParameterizedTest
    @CsvSource({"never,OutOfMemoryError", "advise,OutOfMemoryError", "always,IllegalStateException"})
    void aCopyingThreadThatDiesEndsTheLoadWithItsReason(String huge, String reason) {
        Path source = ServedStore.writeBytes(sources.resolve("a.npy"), 48 * MIB);
        try (TinyTmpfs mount = TinyTmpfs.mount("size=80m,huge=" + huge);
                ServedStore served = ServedStore.at(mount.folder().resolve("store"))) {
            Daemon daemon = served.start(OptionalLong.of(ServedStore.ANY_CAPACITY));

            assertThatThrownBy(() -> daemon.load(request(source, 2), progress -> {
                        if (progress.bytesDone() > 0 && progress.phase() == Progress.Phase.LOADING) {
                            die(reason);
                        }
                    }))
                    .hasMessageContaining("made up");

            assertNothingIsLeft(served);
            served.load("d", source);
        }
    }

    private static void die(String reason) {
        if (reason.startsWith("Out")) {
            throw new OutOfMemoryError("made up");
        }
        throw new IllegalStateException("made up");
    }

    @ParameterizedTest
    @ValueSource(strings = {"never", "advise", "always"})
    void aDaemonThatIsKilledInMidLoadLeavesNothingToTheNext(String huge) throws Exception {
        Random random = new Random(SEED);
        ServedStore.writeBytes(sources.resolve("a.npy"), 40 * MIB);
        try (TinyTmpfs mount = TinyTmpfs.mount("size=80m,huge=" + huge);
                ServedStore served = ServedStore.at(mount.folder().resolve("store"))) {
            for (int round = 0; round < 3; round++) {
                long delayNs = random.nextLong(TimeUnit.MILLISECONDS.toNanos(40));
                ChildJvm child = served.startProcess(Long.toString(ServedStore.ANY_CAPACITY));
                CompletableFuture<?> load = CompletableFuture.runAsync(() -> served.load("d", sources));
                LockSupport.parkNanos(delayNs); // to kill it at any moment of a load
                child.kill();
                load.handle((done, failure) -> done).get(60, TimeUnit.SECONDS);

                try (Daemon next = served.start(OptionalLong.of(ServedStore.ANY_CAPACITY))) {
                    assertThat(ServedStore.entries(next.layout().incoming())).isEmpty();
                    assertThat(served.control().verify("", progress -> {}).files())
                            .isLessThan(2);
                }
                assertThat(served.root()).as("seed=" + SEED + " round=" + round).doesNotExist();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"advise", "always"})
    void aDaemonThatIsStoppedInMidLoadLeavesNothing(String huge) throws Exception {
        Random random = new Random(SEED);
        ServedStore.writeBytes(sources.resolve("a.npy"), 40 * MIB);
        try (TinyTmpfs mount = TinyTmpfs.mount("size=80m,huge=" + huge);
                ServedStore served = ServedStore.at(mount.folder().resolve("store"))) {
            for (int round = 0; round < 10; round++) {
                Daemon daemon = served.start(OptionalLong.of(ServedStore.ANY_CAPACITY));
                CompletableFuture<?> load = CompletableFuture.runAsync(() -> served.load("d", sources));
                LockSupport.parkNanos(random.nextLong(TimeUnit.MILLISECONDS.toNanos(40))); // to stop it at any moment

                daemon.stop(false);

                assertThat(served.root()).as("seed=" + SEED + " round=" + round).doesNotExist();
                load.handle((done, failure) -> done).get(60, TimeUnit.SECONDS);
            }
        }
    }

    private static LoadRequest request(Path source, int workers) {
        return new LoadRequest(List.of(new LoadRequest.Source("d", source.toString())), List.of(), workers);
    }

    private static void assertNothingIsLeft(ServedStore served) {
        assertThat(served.control().list("", true)).isEmpty();
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
        assertThat(ServedStore.entries(served.layout().data())).isEmpty();
    }
}
