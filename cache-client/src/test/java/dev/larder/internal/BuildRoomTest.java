package dev.larder.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BuildRoomTest {
    private static final long MIB = 1L << 20;

    private final List<Long> asked = new ArrayList<>();

    /** A daemon that has so much room for the build. */
    private BuildRoom roomOf(long roomBytes, long grantedBytes) {
        return new BuildRoom(
                bytes -> {
                    asked.add(bytes);
                    if (bytes > roomBytes) {
                        throw Failure.of(ErrorCode.NO_SPACE, "not enough space").exception();
                    }
                },
                grantedBytes);
    }

    @Test
    void whatWasGrantedIsNotAskedForAgain() {
        BuildRoom room = roomOf(0, 4 * MIB);

        room.take(MIB);
        room.take(3 * MIB);

        assertThat(asked).isEmpty();
    }

    @Test
    void manySmallFilesAskSeldom() {
        BuildRoom room = roomOf(Long.MAX_VALUE, 0);

        for (int i = 0; i < 100_000; i++) {
            room.take(5_000);
        }

        assertThat(asked).hasSizeLessThan(200).isSorted();
        assertThat(asked.get(asked.size() - 1)).isBetween(100_000L * 8192, 100_000L * 8192 + 16 * MIB);
    }

    @Test
    void whereShortFilesTakeHugePagesThatIsAskedForFromTheSecondOn() {
        BuildRoom room = roomOf(Long.MAX_VALUE, 0);

        room.take(5_000);
        room.note(5_000, 2 * MIB);
        room.take(5_000);
        room.note(5_000, 2 * MIB);

        assertThat(asked.get(1)).isBetween(4 * MIB, 5 * MIB);
        assertThat(asked).hasSize(2);
    }

    @Test
    void whatIsNotNeededYetNeverRefusesWhatIs() {
        BuildRoom room = roomOf(8 * MIB, 0);

        room.take(8 * MIB);

        assertThat(asked).containsExactly(9 * MIB, 8 * MIB);
        assertThatThrownBy(() -> room.take(1)).isInstanceOf(LarderException.class);
    }
}
