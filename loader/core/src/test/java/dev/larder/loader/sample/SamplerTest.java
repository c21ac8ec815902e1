package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.internal.sample.Mt19937;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SamplerTest {
    /** What {@code torch.manual_seed(seed); torch.randperm(rows)} begins with, from libtorch 2.7.1. */
    @ParameterizedTest
    @CsvSource({
        "0, 10, 4 1 7 5 3 9 0 8 6 2",
        "42, 1000, 542 618 816 68 94 215 60 585 942 165",
        "0, 60000, 36044 10678 57327 55074 21567 15479 9481 43095 26145 7479",
    })
    void randomOrderIsThatOfPyTorch(long seed, long rows, String expected) {
        long[] visited = visited(Sampler.random(seed), rows, 0);

        long[] start =
                Arrays.stream(expected.split(" ")).mapToLong(Long::parseLong).toArray();
        assertThat(Arrays.copyOf(visited, start.length)).containsExactly(start);
    }

    @Test
    void epochIsAddedToTheSeedAsADistributedSamplerDoes() {
        assertThat(visited(Sampler.random(40), 1000, 2)).containsExactly(visited(Sampler.random(42), 1000, 0));
    }

    @Test
    void anotherEpochHasAnotherOrderAndTheSameEpochTheSame() {
        Sampler sampler = Sampler.random(7);

        long[] first = visited(sampler, 100, 0);
        long[] second = visited(sampler, 100, 1);

        assertThat(second).isNotEqualTo(first);
        assertThat(visited(sampler, 100, 0)).containsExactly(first);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 623, 624, 625, 100_003})
    void randomOrderVisitsEveryRowOnce(long rows) {
        long[] visited = visited(Sampler.random(11), rows, 3);

        Arrays.sort(visited);
        assertThat(visited).isEqualTo(LongStream.range(0, rows).toArray());
    }

    @Test
    void randomOrderOfVeryManyRowsVisitsEveryRowOnce() {
        int[] rows = new int[5000];

        RandomOrder.shuffleWide(rows, new Mt19937(3));

        assertThat(rows).isNotEqualTo(Arrays.stream(rows).sorted().toArray());
        assertThat(Arrays.stream(rows).sorted().asLongStream())
                .containsExactly(LongStream.range(0, 5000).boxed().toArray(Long[]::new));
    }

    @Test
    void generatorDrawsTheNumbersOfTheReferenceImplementation() {
        Mt19937 random = new Mt19937(5489);

        assertThat(random.next32()).isEqualTo(3_499_211_612L);
        assertThat(random.next64()).isEqualTo(581_869_302L << 32 | 3_890_346_734L);
        for (int draw = 3; draw < 9_999; draw++) {
            random.next32();
        }
        assertThat(random.next32()).isEqualTo(4_123_659_995L);
    }

    @Test
    void moreRowsThanAnArrayHoldsAreNotShuffled() {
        assertThatThrownBy(() -> Sampler.random(0).order(1L << 31, 0))
                .isInstanceOfSatisfying(
                        LarderException.class,
                        failure -> assertThat(failure.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("rows=2147483648")
                .hasMessageContaining("Sampler.permuted");
    }

    @Test
    void sequentialOrderPassesTwoBillionRows() {
        assertThat(Sampler.sequential().order(1L << 40, 5).row((1L << 40) - 1)).isEqualTo((1L << 40) - 1);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 10, 11})
    void positionsOutsideTheOrderAreRefused(long position) {
        for (Sampler sampler : new Sampler[] {Sampler.sequential(), Sampler.random(0)}) {
            SampleOrder order = sampler.order(10, 0);
            assertThatThrownBy(() -> order.row(position)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    private static long[] visited(Sampler sampler, long rows, long epoch) {
        SampleOrder order = sampler.order(rows, epoch);
        return LongStream.range(0, order.length()).map(order::row).toArray();
    }
}
