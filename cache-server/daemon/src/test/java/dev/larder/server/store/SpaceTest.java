package dev.larder.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class SpaceTest {
    private static final Path SHM = Path.of("/dev/shm");

    @Test
    void whatFitsExactlyIsTaken() {
        Space space = new Space(SHM, OptionalLong.of(10_000), 0);

        assertThatCode(() -> space.reserve(6_000, 4_000, 0)).doesNotThrowAnyException();
        assertThat(space.capacityBytes()).isEqualTo(10_000);
    }

    @Test
    void aRefusalNamesItsNumbers() {
        Space space = new Space(SHM, OptionalLong.of(10_000), 0);

        assertRefused(
                () -> space.reserve(6_001, 4_000, 1_000),
                "not enough space: needed=6001 free=6000 evictable=0 leased=1000 pinned=0 unsourced=0 capacity=10000;");
        assertRefused(() -> space.reserve(1, 10_500, 0), "needed=1 free=0 ");
    }

    @Test
    void loadsSideBySideDoNotCountOnTheSameBytes() {
        Space space = new Space(SHM, OptionalLong.of(10_000), 0);
        space.reserve(7_000, 0, 0);

        assertRefused(() -> space.reserve(3_001, 0, 0), "needed=3001 free=3000 ");
        space.reserve(3_000, 0, 0);

        space.release(7_000);
        assertThatCode(() -> space.reserve(7_000, 0, 0)).doesNotThrowAnyException();
    }

    @Test
    void theMountCountsAsMuchAsTheCapacity() {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=1m")) {
            Space space = new Space(tiny.folder(), OptionalLong.of(1L << 40), 0);

            assertRefused(() -> space.reserve(2 << 20, 0, 0), "needed=2097152 free=1048576 ");
            assertThat(new Space(tiny.folder(), OptionalLong.empty(), 0).capacityBytes())
                    .isBetween(800_000L, 850_000L);
        }
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

    private static void assertRefused(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                .hasMessageContaining(message);
    }
}
