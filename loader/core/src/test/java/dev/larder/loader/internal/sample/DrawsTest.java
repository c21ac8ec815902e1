package dev.larder.loader.internal.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Buckets;
import dev.larder.loader.sample.Labels;
import dev.larder.loader.sample.Lengths;
import dev.larder.loader.sample.Mixture;
import dev.larder.loader.sample.Mixture.Exhausted;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Subset;
import dev.larder.loader.sample.TokenBudget;
import dev.larder.loader.sample.Visits;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What was drawn once is drawn for ever: a saved state goes on in the order in which it began. */
class DrawsTest {
    private static final int ROWS = 1000;
    private static final long SEED = -42;
    private static final long EPOCH = 7;

    @Test
    void ordersAreWhatTheyAlwaysWere() {
        double[] weights = IntStream.range(0, ROWS).mapToDouble(row -> row % 13).toArray();
        Labels labels = Labels.of(
                IntStream.range(0, ROWS).map(row -> row % 7 * (row % 3)).toArray());

        assertThat(crc(Sampler.random(SEED))).isEqualTo("6385ce82");
        assertThat(crc(Sampler.permuted(SEED))).isEqualTo("c6e2db88");
        assertThat(crc(Sampler.weighted(weights, ROWS, SEED))).isEqualTo("c9ef7136");
        assertThat(crc(Sampler.weightedWithoutReplacement(weights, 500, SEED))).isEqualTo("30d5502b");
        assertThat(crc(Sampler.stratified(labels, SEED))).isEqualTo("96d6242a");
    }

    @Test
    void batchesAreWhatTheyAlwaysWere() {
        Lengths lengths =
                Lengths.of(IntStream.range(0, ROWS).map(row -> row * 37 % 400).toArray());

        assertThat(crcOfBatches(Buckets.of(lengths)
                        .bounds(100, 220)
                        .batchSizes(32, 24, 16)
                        .shuffle(SEED)))
                .isEqualTo("5bc71920");
        assertThat(crcOfBatches(TokenBudget.of(lengths).maxTokens(4000).shuffle(SEED)))
                .isEqualTo("f368b9ca");
        assertThat(crcOfBatches(TokenBudget.of(lengths).maxTokens(800).shuffle(SEED)))
                .as("several windows of the usual size")
                .isEqualTo("38cfb415");
    }

    @Test
    void mixturesAreWhatTheyAlwaysWere() {
        assertThat(crc(mixed(Mixture.weights(1, 1, 1), 400, 300, 300))).isEqualTo("1289923d");
        assertThat(crc(mixed(Mixture.weights(6, 3, 1).exhausted(Exhausted.UNTIL_ALL), 100, 400, 500)))
                .isEqualTo("7c6956a8");
        assertThat(crc(mixed(Mixture.bySize().temperature(2).exhausted(Exhausted.REPEAT), 10, 100, 890)))
                .isEqualTo("a0530f2d");
        long[] sizes = LongStream.rangeClosed(1, 12).map(source -> 10 * source).toArray();
        sizes[11] += ROWS - LongStream.of(sizes).sum();
        assertThat(crc(mixed(Mixture.bySize().samples(2 * ROWS), sizes))).isEqualTo("a4a9922d");
    }

    private static Sampler mixed(Mixture mixture, long... sizes) {
        return mixture.sampler(Sampler.permuted(SEED), SEED, sizes);
    }

    @Test
    void partsAreWhatTheyAlwaysWere() {
        Labels labels = Labels.of(
                IntStream.range(0, ROWS).map(row -> row % 7 * (row % 3)).toArray());

        assertThat(crc(Subset.split(ROWS, SEED, 0.7, 0.3).get(1))).isEqualTo("2fbb4e26");
        assertThat(crc(Subset.kFold(ROWS, 3, SEED).get(1).training())).isEqualTo("962239e8");
        assertThat(crc(Subset.split(labels, SEED, 0.7, 0.3).get(1))).isEqualTo("1dfc1791");
        assertThat(crc(Subset.kFold(labels, 3, SEED).get(1).training())).isEqualTo("019090b1");
    }

    private static String crc(Sampler sampler) {
        return crc(Visits.of(sampler, ROWS, EPOCH));
    }

    private static String crcOfBatches(BatchSampler sampler) {
        return crc(Visits.flat(Visits.of(sampler.order(ROWS, EPOCH))));
    }

    private static String crc(Subset subset) {
        return crc(Visits.of(subset));
    }

    private static String crc(long[] rows) {
        return Fingerprint.of(rows.length, i -> rows[i]);
    }
}
