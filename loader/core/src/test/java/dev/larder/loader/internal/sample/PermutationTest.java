package dev.larder.loader.internal.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Visits;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PermutationTest {
    @Test
    void everyRowIsVisitedOnceWhateverTheirNumber() {
        for (long rows = 0; rows <= 300; rows++) {
            for (long seed = -2; seed <= 2; seed++) {
                assertThat(Visits.sorted(Visits.of(Sampler.permuted(seed), rows, 3 * seed)))
                        .isEqualTo(Visits.range(rows));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1023, 1024, 1025, 16_383, 16_384, 16_385, 65_537, 100_003})
    void everyOfManyRowsIsVisitedOnce(long rows) {
        boolean[] visited = new boolean[(int) rows];
        SampleOrder order = Sampler.permuted(5).order(rows, 1);
        for (long position = 0; position < rows; position++) {
            int row = (int) order.row(position);
            assertThat(visited[row]).isFalse();
            visited[row] = true;
        }

        assertThat(order.length()).isEqualTo(rows);
    }

    /** What was drawn once is drawn for ever: a saved state goes on in the order in which it began. */
    @ParameterizedTest
    @CsvSource({
        "0, 0, 10, 0 6 8 7 9 4 2 1",
        "42, 3, 60000, 48763 31869 49956 17558 59464 35499 10282 55920",
        "-7, 4294967296, 1000000000000, 648560873058 807140179780 727364226377 140564654334",
        "1, 0, 4611686018427387904, 2197027951263320517 2928124649055691063 993802936919846734 452569561975424689",
    })
    void orderIsWhatItAlwaysWas(long seed, long epoch, long rows, String expected) {
        SampleOrder order = Sampler.permuted(seed).order(rows, epoch);

        long[] start = Arrays.stream(expected.split(" ", -1))
                .mapToLong(Long::parseLong)
                .toArray();
        assertThat(LongStream.range(0, start.length).map(order::row)).containsExactly(box(start));
    }

    @Test
    void epochsAndSeedsHaveOrdersThatHaveNothingInCommon() {
        int alike = 0;
        for (long epoch = 0; epoch < 20; epoch++) {
            long[] one = Visits.of(Sampler.permuted(epoch), 1000, epoch + 1);
            long[] other = Visits.of(Sampler.permuted(epoch + 1), 1000, epoch);
            for (int i = 0; i < 1000; i++) {
                alike += one[i] == other[i] ? 1 : 0;
            }
        }

        assertThat(alike).isLessThan(60); // 20 are to be expected
    }

    @Test
    void moreRowsThanFitAreRefused() {
        assertThatThrownBy(() -> Sampler.permuted(1).order((1L << 62) + 1, 0))
                .isInstanceOfSatisfying(
                        LarderException.class,
                        failure -> assertThat(failure.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("rows=4611686018427387905");
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 10})
    void positionsOutsideTheOrderAreRefused(long position) {
        SampleOrder order = Sampler.permuted(1).order(10, 0);

        assertThatThrownBy(() -> order.row(position)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    private static Long[] box(long[] rows) {
        return LongStream.of(rows).boxed().toArray(Long[]::new);
    }
}
