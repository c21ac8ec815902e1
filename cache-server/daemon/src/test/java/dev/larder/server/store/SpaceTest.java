package dev.larder.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class SpaceTest {
    private static final Path SHM = Path.of("/dev/shm");

    @Test
    void whatFitsExactlyIsTakenAndNotAByteMore() {
        Space space = new Space(SHM, OptionalLong.of(10_000), 0);

        assertThat(space.tryReserve(6_001, 0, 4_000)).isFalse();
        assertThat(space.tryReserve(6_000, 0, 4_000)).isTrue();
        assertThat(space.capacityBytes()).isEqualTo(10_000);
    }

    @Test
    void aStoreThatIsOverfullHasNothingFree() {
        assertThat(new Space(SHM, OptionalLong.of(10_000), 0).freeBytes(10_500)).isZero();
    }

    @Test
    void loadsSideBySideDoNotCountOnTheSameBytes() {
        Space space = new Space(SHM, OptionalLong.of(10_000), 0);
        space.tryReserve(7_000, 0, 0);

        assertThat(space.tryReserve(3_001, 0, 0)).isFalse();
        assertThat(space.tryReserve(3_000, 0, 0)).isTrue();

        space.release(7_000);
        assertThat(space.tryReserve(7_000, 0, 0)).isTrue();
    }

    @Test
    void theMountCountsAsMuchAsTheCapacity() {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=1m")) {
            Space space = new Space(tiny.folder(), OptionalLong.of(1L << 40), 0);

            assertThat(space.tryReserve(2 << 20, 0, 0)).isFalse();
            assertThat(space.freeBytes(0)).isEqualTo(1 << 20);
            assertThat(new Space(tiny.folder(), OptionalLong.empty(), 0).capacityBytes())
                    .isBetween(800_000L, 850_000L);
        }
    }

    @Test
    void whatLiesOnTheMountAlreadyIsNotCountedAgain() {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=1m")) {
            Space space = new Space(tiny.folder(), OptionalLong.of(1L << 40), 0);

            assertThat(space.tryReserve(3 << 19, 1 << 18, 0)).isFalse();
            assertThat(space.tryReserve(3 << 19, 1 << 19, 0)).isTrue();
            assertThat(new Space(tiny.folder(), OptionalLong.of(1 << 20), 0).missingBytes(3 << 19, 1 << 19, 0))
                    .as("but the capacity is for all of it")
                    .isEqualTo(1 << 19);
        }
    }

    @Test
    void anOverfullStoreMissesWhatItHoldsTooMuchAsWell() {
        Space space = new Space(SHM, OptionalLong.of(10_000), 0);

        assertThat(space.missingBytes(1_000, 0, 10_500)).isEqualTo(1_500);
        assertThat(space.tryReserve(0, 0, 10_500)).isTrue();
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
