package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WeightedSamplerTest {
    private static final int DRAWS = 400_000;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1",
                "1 1",
                "1 2 3 4",
                "1e-3 1 1e3",
                "5 0 0 1",
                "0.1 0.2 0.3 0.4",
                "1e300 3e300 2e300",
                "3e-320 1e-320"
            })
    void rowsAreDrawnInProportionToTheirWeights(String text) {
        double[] weights = doubles(text);
        SampleOrder order = Sampler.weighted(weights, DRAWS, 3).order(weights.length, 1);

        assertThat(order.length()).isEqualTo(DRAWS);
        assertThat(deviation(counts(Visits.of(order), weights.length), weights))
                .isLessThan(Uniformity.limit(weights.length));
    }

    @Test
    void manyWeightsAtRandomAreKeptTo() {
        Random random = new Random(11);
        double[] weights =
                random.doubles(1000).map(each -> each < 0.2 ? 0 : each * each).toArray();
        long[] drawn = Visits.of(Sampler.weighted(weights, 4 * DRAWS, 5), weights.length, 9);

        assertThat(deviation(counts(drawn, weights.length), weights)).isLessThan(Uniformity.limit(weights.length - 1));
    }

    @Test
    void rowsOfWeightZeroAreNeverDrawn() {
        double[] weights = new double[257];
        weights[77] = 1;
        weights[200] = 9;

        assertThat(Visits.of(Sampler.weighted(weights, 10_000, 1), 257, 0)).containsOnly(77, 200);
        assertThat(Visits.of(Sampler.weightedWithoutReplacement(weights, 2, 1), 257, 0))
                .containsExactlyInAnyOrder(200, 77);
    }

    @Test
    void drawDependsOnSeedEpochAndPositionAlone() {
        double[] weights = new double[1000];
        Arrays.fill(weights, 1);
        SampleOrder few = Sampler.weighted(weights, 10, 4).order(1000, 2);
        SampleOrder many = Sampler.weighted(weights, 1L << 40, 4).order(1000, 2);

        assertThat(Visits.of(few)).containsExactly(Arrays.copyOf(first(many, 100), 10));
        assertThat(many.row((1L << 40) - 1)).isEqualTo(many.row((1L << 40) - 1));
        assertThat(first(Sampler.weighted(weights, 100, 5).order(1000, 2), 100)).isNotEqualTo(first(many, 100));
        assertThat(first(Sampler.weighted(weights, 100, 4).order(1000, 3), 100)).isNotEqualTo(first(many, 100));
    }

    @Test
    void withoutReplacementNoRowComesTwice() {
        double[] weights = new Random(1).doubles(500, 0.01, 1).toArray();

        long[] all = Visits.of(Sampler.weightedWithoutReplacement(weights, 500, 8), 500, 3);
        long[] some = Visits.of(Sampler.weightedWithoutReplacement(weights, 100, 8), 500, 3);

        assertThat(Visits.sorted(all)).containsExactly(Visits.range(500));
        assertThat(some).containsExactly(Arrays.copyOf(all, 100));
    }

    /** The chance of first i and then j is wᵢ · wⱼ / (1 - wᵢ), for weights that are 1 in sum. */
    @Test
    void withoutReplacementEachNextRowIsDrawnByTheWeightsThatAreLeft() {
        double[] weights = {0.1, 0.2, 0.3, 0.4};
        double[] likely = new double[16];
        long[] counts = new long[16];
        for (int i = 0; i < 16; i++) {
            likely[i] = i / 4 == i % 4 ? 0 : weights[i / 4] * weights[i % 4] / (1 - weights[i / 4]);
        }
        Sampler sampler = Sampler.weightedWithoutReplacement(weights, 2, 6);
        for (int epoch = 0; epoch < 100_000; epoch++) {
            long[] drawn = Visits.of(sampler, 4, epoch);
            counts[(int) (4 * drawn[0] + drawn[1])]++;
        }

        assertThat(deviation(counts, likely)).isLessThan(Uniformity.limit(11));
    }

    @ParameterizedTest
    @CsvSource({
        "1 -1, row=1 weight=-1.0",
        "NaN, row=0 weight=NaN",
        "1 1 Infinity, row=2 weight=Infinity",
        "-0.0 -1e-300, row=1"
    })
    void weightThatIsNoneIsRefusedWithItsRow(String weights, String message) {
        for (boolean replaces : new boolean[] {true, false}) {
            assertThatThrownBy(() -> sampler(doubles(weights), 1, replaces))
                    .isInstanceOfSatisfying(
                            LarderException.class,
                            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining(message);
        }
    }

    @Test
    void fewerRowsThanAreToBeDrawnAreRefused() {
        assertThatThrownBy(() -> sampler(doubles("0 0"), 1, true)).hasMessageContaining("positiveWeights=0 needed=1");
        assertThatThrownBy(() -> sampler(new double[0], 0, true)).hasMessageContaining("rows=0");
        assertThatThrownBy(() -> sampler(doubles("1 0 1"), 3, false))
                .hasMessageContaining("positiveWeights=2 needed=3");
        assertThatThrownBy(() -> sampler(doubles("1"), -1, false)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void weightsOfAnotherDatasetAreRefused() {
        for (boolean replaces : new boolean[] {true, false}) {
            assertThatThrownBy(() -> sampler(doubles("1 1"), 1, replaces).order(3, 0))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("weights=2 rows=3");
        }
    }

    @Test
    void weightsGoWithTheRowsOfASubset() {
        double[] weights = doubles("9 0 1 0 3");
        Subset subset = Subset.of(4, 1, 2);

        long[] drawn = Visits.of(Sampler.weighted(weights, DRAWS, 1).over(subset), 5, 0);
        long[] once =
                Visits.of(Sampler.weightedWithoutReplacement(weights, 2, 1).over(subset), 5, 0);

        assertThat(deviation(counts(drawn, 5), doubles("0 0 1 0 3"))).isLessThan(Uniformity.limit(1));
        assertThat(once).containsExactlyInAnyOrder(2, 4);
        assertThatThrownBy(() -> Sampler.weighted(weights, 1, 1).over(Subset.of(1, 3)))
                .hasMessageContaining("positiveWeights=0");
    }

    @Test
    void laterChangesOfTheArrayChangeNothing() {
        double[] weights = {1, 0};
        Sampler sampler = Sampler.weighted(weights, 20, 1);
        Sampler once = Sampler.weightedWithoutReplacement(weights, 1, 1);
        weights[1] = 1e9;

        assertThat(Visits.of(sampler, 2, 0)).containsOnly(0);
        assertThat(Visits.of(once, 2, 0)).containsExactly(0);
    }

    private static Sampler sampler(double[] weights, long samples, boolean replaces) {
        return replaces
                ? Sampler.weighted(weights, samples, 1)
                : Sampler.weightedWithoutReplacement(weights, samples, 1);
    }

    private static long[] first(SampleOrder order, int count) {
        long[] rows = new long[count];
        Arrays.setAll(rows, order::row);
        return rows;
    }

    private static long[] counts(long[] drawn, int rows) {
        long[] counts = new long[rows];
        for (long row : drawn) {
            counts[(int) row]++;
        }
        return counts;
    }

    /** Returns Pearson's statistic; what cannot be, must not be. */
    private static double deviation(long[] counts, double[] weights) {
        double max = Arrays.stream(weights).max().orElseThrow();
        double sum = Arrays.stream(weights).map(each -> each / max).sum();
        double all = Arrays.stream(counts).sum();
        double deviation = 0;
        for (int i = 0; i < counts.length; i++) {
            double expected = all * (weights[i] / max) / sum;
            deviation +=
                    expected == 0 && counts[i] == 0 ? 0 : (counts[i] - expected) * (counts[i] - expected) / expected;
        }
        return deviation;
    }

    private static double[] doubles(String text) {
        return Arrays.stream(text.split(" ", -1))
                .mapToDouble(Double::parseDouble)
                .toArray();
    }
}
