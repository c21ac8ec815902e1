package dev.larder.readers.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LevelRunsTest {
    private static List<Integer> levels(int bits, int values, int... bytes) {
        byte[] data = new byte[bytes.length + 1]; // the last byte belongs to the values
        for (int i = 0; i < bytes.length; i++) {
            data[i] = (byte) bytes[i];
        }
        List<Integer> levels = new ArrayList<>();
        LevelRuns.forEach(ByteBuffer.wrap(data), 0, bytes.length, bits, values, (first, count, level) -> {
            assertThat(first).isEqualTo(levels.size());
            for (int i = 0; i < count; i++) {
                levels.add(level);
            }
        });
        return levels;
    }

    @Test
    void runsAndPackedGroupsFollowEachOther() {
        assertThat(levels(1, 13, 3 << 1, 1, 1 << 1 | 1, 0b10110000, 2 << 1, 0))
                .containsExactly(1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0);
    }

    @Test
    void aPackedLevelMayHaveSeveralBits() {
        assertThat(levels(3, 8, 1 << 1 | 1, 0x88, 0xc6, 0xfa)).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    }

    @Test
    void theRestOfTheLastGroupIsNoLevel() {
        assertThat(levels(2, 3, 1 << 1 | 1, 0b00100111, 0xff)).containsExactly(3, 1, 2);
    }

    @Test
    void aRunMayBeLongerThanThePage() {
        assertThat(levels(1, 2, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1)).containsExactly(1, 1);
    }

    @ParameterizedTest
    @CsvSource({
        "2, 3, 3, 0, the levels of a page end too early",
        "2, 2, 4, 1, the levels of a page end too early",
        "1, 2, 0, 1, a run of levels is empty",
        "1, 2, 1, 1, a run of levels is empty",
    })
    void levelsThatArePartlyMissingAreRefused(int bits, int values, int head, int next, String reason) {
        assertThatThrownBy(() -> levels(bits, values + 1, head, next))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(reason);
    }

    @Test
    void aLengthWithoutAnEndIsRefused() {
        assertThatThrownBy(() -> levels(1, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80))
                .hasMessage("the length of a run of levels has more than five bytes");
    }
}
