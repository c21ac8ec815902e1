package dev.larder.server.store.space;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpaceTest {
    private static final Path SHM = Path.of("/dev/shm");

    private static Reservation reservation(Space space) {
        return space.newReservation((reservation, moreBytes) -> {
            throw new AssertionError("nobody asks for more");
        });
    }

    /** Sets space aside in a reservation of its own. */
    private static boolean tryReserve(Space space, long bytes, long usedBytes) {
        return space.tryGrow(reservation(space), bytes, () -> usedBytes);
    }

    @Test
    void whatFitsExactlyIsTakenAndNotAByteMore() {
        Space space = new Space(SHM, OptionalLong.of(10_000), 0);

        assertThat(tryReserve(space, 6_001, 4_000)).isFalse();
        assertThat(tryReserve(space, 6_000, 4_000)).isTrue();
        assertThat(space.capacityBytes()).isEqualTo(10_000);
    }

    @Test
    void aStoreThatIsOverfullHasNothingFree() {
        assertThat(new Space(SHM, OptionalLong.of(10_000), 0).freeBytes(() -> 10_500))
                .isZero();
    }

    @Test
    void loadsSideBySideDoNotCountOnTheSameBytes() {
        Space space = new Space(SHM, OptionalLong.of(10_000), 0);
        Reservation first = reservation(space);
        space.tryGrow(first, 7_000, () -> 0);

        assertThat(tryReserve(space, 3_001, 0)).isFalse();
        assertThat(tryReserve(space, 3_000, 0)).isTrue();
        assertThat(space.reservedBytes()).isEqualTo(10_000);

        first.close();
        first.close();
        assertThat(tryReserve(space, 7_000, 0)).isTrue();
    }

    @Test
    void theMountCountsAsMuchAsTheCapacity() {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=1m")) {
            Space space = new Space(tiny.folder(), OptionalLong.of(1L << 40), 0);

            assertThat(tryReserve(space, 2 << 20, 0)).isFalse();
            assertThat(space.freeBytes(() -> 0)).isEqualTo(1 << 20);
            assertThat(new Space(tiny.folder(), OptionalLong.empty(), 0).capacityBytes())
                    .isBetween(800_000L, 850_000L);
        }
    }

    @Test
    void theControlGroupCountsAsMuchAsTheMountAndKeepsWhatTheDaemonMayStillNeed(@TempDir Path machine)
            throws IOException {
        Path group = Files.createDirectories(machine.resolve("sys/fs/cgroup/memory/a"));
        Path self = Files.createDirectories(machine.resolve("proc/self"));
        Files.writeString(self.resolve("cgroup"), "4:memory:/a\n");
        Files.writeString(group.resolve("memory.limit_in_bytes"), "20000\n");
        Files.writeString(group.resolve("memory.usage_in_bytes"), "5000\n");
        Space space = new Space(SHM, OptionalLong.of(1L << 40), 0, machine);

        assertThat(tryReserve(space, 15_001, 0)).isFalse();
        assertThat(tryReserve(space, 15_000, 0)).isTrue();
        assertThat(new Space(SHM, OptionalLong.empty(), 0, machine).capacityBytes())
                .isEqualTo(12_000);

        Files.writeString(self.resolve("status"), "VmRSS:\t 9 kB\nRssAnon:\t 8 kB\n");
        assertThat(new Space(SHM, OptionalLong.of(1L << 40), 0, machine).freeBytes(() -> 0))
                .as("half of the limit is kept, as the heap of this JVM is larger")
                .isEqualTo(5_000);
    }

    @Test
    void aStoreOnADiskMayHoldMoreThanTheMemoryOfTheControlGroup(@TempDir Path machine) throws IOException {
        assumeTrue(Mount.of(machine).filter(mount -> !mount.isVolatile()).isPresent(), "the temporary folder is on a disk");
        Path group = Files.createDirectories(machine.resolve("sys/fs/cgroup/memory/a"));
        Files.writeString(Files.createDirectories(machine.resolve("proc/self")).resolve("cgroup"), "4:memory:/a\n");
        Files.writeString(group.resolve("memory.limit_in_bytes"), "20000\n");
        Files.writeString(group.resolve("memory.usage_in_bytes"), "5000\n");

        assertThat(tryReserve(new Space(machine, OptionalLong.of(1L << 40), 0, machine), 15_001, 0))
                .isTrue();
    }

    @Test
    void whatIsSetAsideAndNotYetWrittenIsNotFreeOnTheMount() throws IOException {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=1m")) {
            Space space = new Space(tiny.folder(), OptionalLong.of(1L << 40), 0);
            Reservation first = reservation(space);
            first.writesTo(tiny.folder().resolve("first"));

            assertThat(space.tryGrow(first, 600 << 10, () -> 0)).isTrue();
            assertThat(tryReserve(space, 600 << 10, 0)).isFalse();
            assertThat(space.freeBytes(() -> 0)).isEqualTo(424 << 10);

            Files.write(tiny.folder().resolve("first"), new byte[600 << 10]);
            assertThat(space.freeBytes(() -> 0)).isEqualTo(424 << 10);
            assertThat(tryReserve(space, 424 << 10, 0)).isTrue();
        }
    }

    @Test
    void whatWasWrittenBeforeItWasSetAsideIsNotCountedAgain() throws IOException {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=1m")) {
            Space space = new Space(tiny.folder(), OptionalLong.of(1L << 40), 0);
            Path folder = Files.createDirectory(tiny.folder().resolve("build"));
            Files.write(folder.resolve("a"), new byte[768 << 10]);
            Reservation reservation = reservation(space);
            reservation.writesTo(folder);

            assertThat(space.missingBytes(reservation, 1025 << 10, () -> 0)).isEqualTo(1 << 10);
            assertThat(space.tryGrow(reservation, 1 << 20, () -> 0)).isTrue();
        }
    }

    @Test
    void anOverfullStoreMissesWhatItHoldsTooMuchAsWell() {
        Space space = new Space(SHM, OptionalLong.of(10_000), 0);

        assertThat(space.missingBytes(reservation(space), 1_000, () -> 10_500)).isEqualTo(1_500);
        assertThat(tryReserve(space, 0, 10_500)).isTrue();
    }

    @Test
    void aSizeBeyondAllSumsIsMissingAndANegativeOneIsAMistake() {
        Space space = new Space(SHM, OptionalLong.of(10_000), 0);

        assertThat(space.missingBytes(reservation(space), Long.MAX_VALUE, () -> 10_500))
                .isEqualTo(Long.MAX_VALUE);
        assertThatThrownBy(() -> tryReserve(space, -1, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> reservation(space).grow(-1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void whatIsPublishedCountsOnceWhileItChangesFromSetAsideToUsed() {
        Space space = new Space(SHM, OptionalLong.of(10_000), 0);
        AtomicLong used = new AtomicLong();
        Reservation reservation = reservation(space);
        space.tryGrow(reservation, 6_000, used::get);

        space.handOver(reservation, 5_000, () -> used.set(5_000));

        assertThat(reservation.bytes()).isEqualTo(1_000);
        assertThat(space.missingBytes(reservation, 4_001, used::get)).isEqualTo(1);
    }

    @Test
    void aFullFileSystemIsToldFromOtherFailures() {
        assertThat(failed("No space left on device").code()).isEqualTo(ErrorCode.NO_SPACE);
        assertThat(failed("/a/b: Disk quota exceeded").code()).isEqualTo(ErrorCode.NO_SPACE);
        assertThat(failed("Input/output error").code()).isEqualTo(ErrorCode.UNEXPECTED);
        assertThat(failed("Input/output error")).hasMessageContaining("cannot write: path=/a reason=");
    }

    private static LarderException failed(String message) {
        return Space.failed("cannot write", Path.of("/a"), new IOException(message));
    }
}
