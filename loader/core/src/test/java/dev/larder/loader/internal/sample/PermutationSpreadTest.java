package dev.larder.loader.internal.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Uniformity;
import dev.larder.loader.sample.Visits;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How evenly permutations are spread. Takes too long for the long test "mutation": {@link PermutationTest} finds wrong permutations. */
class PermutationSpreadTest {
    private static final int SEEDS = 60_000;

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6})
    void allOrdersOfFewRowsAreEquallyLikely(int rows) {
        long[] counts = new long[(int) LongStream.rangeClosed(1, rows).reduce(1, (a, b) -> a * b)];
        for (int seed = 0; seed < SEEDS; seed++) {
            counts[rank(Visits.of(Sampler.permuted(seed), rows, seed % 5))]++;
        }

        assertThat(Uniformity.chiSquare(counts)).isLessThan(Uniformity.limit(counts.length - 1));
    }

    @ParameterizedTest
    @ValueSource(ints = {7, 8, 16, 17, 31, 33, 64, 100})
    void everyRowIsEquallyLikelyAtEveryPosition(int rows) {
        long[] counts = new long[rows * rows];
        for (int seed = 0; seed < SEEDS / 2; seed++) {
            SampleOrder order = Sampler.permuted(seed).order(rows, 1);
            for (int position = 0; position < rows; position++) {
                counts[position * rows + (int) order.row(position)]++;
            }
        }

        assertThat(Uniformity.chiSquare(counts)).isLessThan(Uniformity.limit((rows - 1) * (rows - 1)));
    }

    @ParameterizedTest
    @ValueSource(ints = {7, 8, 16, 17, 31, 33, 64, 100})
    void everyDistanceOfNeighboursIsEquallyLikely(int rows) {
        long[] counts = new long[rows - 1];
        for (int seed = 0; seed < SEEDS / 2; seed++) {
            SampleOrder order = Sampler.permuted(seed).order(rows, 2);
            int position = seed % (rows - 1);
            counts[(int) Math.floorMod(order.row(position + 1) - order.row(position), (long) rows) - 1]++;
        }

        assertThat(Uniformity.chiSquare(counts)).isLessThan(Uniformity.limit(rows - 2));
    }

    @ParameterizedTest
    @ValueSource(longs = {100_000, 1L << 20, (1L << 40) + 1, 1L << 62})
    void ofVeryManyRowsNeighboursLieAnywhere(long rows) {
        long[] counts = new long[256];
        for (int seed = 0; seed < 100; seed++) {
            SampleOrder order = Sampler.permuted(seed).order(rows, 0);
            for (long position = 0; position < 1000; position++) {
                int part = (int) ((double) order.row(position) / rows * 16);
                counts[16 * part + (int) ((double) order.row(position + 1) / rows * 16)]++;
            }
        }

        assertThat(Uniformity.chiSquare(counts)).isLessThan(Uniformity.limit(255));
    }

    /** Numbers the orders of few rows. */
    private static int rank(long[] order) {
        int rank = 0;
        for (int i = 0; i < order.length; i++) {
            int smaller = 0;
            for (int j = i + 1; j < order.length; j++) {
                smaller += order[j] < order[i] ? 1 : 0;
            }
            rank = rank * (order.length - i) + smaller;
        }
        return rank;
    }
}
