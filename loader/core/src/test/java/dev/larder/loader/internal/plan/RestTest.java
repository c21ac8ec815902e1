package dev.larder.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RestTest {
    private static final Rest GAPS = Rest.of(new long[] {2, 5}, 7);

    @Test
    void unitsArePassedOverOnesAndThenAllOthers() {
        assertThat(LongStream.range(0, 5).map(GAPS::unit).toArray()).containsExactly(2, 5, 7, 8, 9);
        assertThat(LongStream.range(0, 2).map(Rest.from(3)::unit).toArray()).containsExactly(3, 4);
    }

    @Test
    void theCountIsOfUnitsBelowTheEnd() {
        assertThat(LongStream.rangeClosed(0, 9).map(GAPS::count).toArray())
                .containsExactly(0, 0, 0, 1, 1, 1, 2, 2, 3, 4);
        assertThat(LongStream.rangeClosed(0, 4).map(Rest.from(3)::count).toArray())
                .containsExactly(0, 0, 0, 0, 1);
    }

    @Test
    void consumedUnitsGoInOrder() {
        assertThat(GAPS.after(0)).hasToString("left=2,5 reached=7");
        assertThat(GAPS.after(1)).hasToString("left=5 reached=7");
        assertThat(GAPS.after(2)).hasToString("left= reached=7");
        assertThat(GAPS.after(4)).hasToString("left= reached=9");
    }

    @Test
    void onlyPassedOverUnitsAreGaps() {
        assertThat(GAPS.hasGaps()).isTrue();
        assertThat(GAPS.after(2).hasGaps()).isFalse();
        assertThat(GAPS.reached()).isEqualTo(7);
    }

    @Test
    void unitsThatDoNotAscendBelowTheOneReachedAreRefused() {
        assertThat(Rest.of(new long[] {0, 1, 6}, 7)).hasToString("left=0,1,6 reached=7");
        for (long[] wrong : new long[][] {{-1}, {7}, {2, 2}, {3, 2}, {2, 8}}) {
            assertThatThrownBy(() -> Rest.of(wrong, 7))
                    .as(Arrays.toString(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("reached=7");
        }
    }
}
