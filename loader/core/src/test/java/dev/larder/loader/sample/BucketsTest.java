package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BucketsTest {
    private static final long SEED = 42;
    private static final int[] SIZES = {32, 24, 16};

    @Test
    void lengthEqualToABoundIsInTheLowerBucket() {
        Buckets buckets = Buckets.of(Lengths.of(100, 101, 220, 221, 0, 99))
                .bounds(100, 220)
                .batchSizes(9, 9, 9);

        assertThat(Visits.of(buckets.order(6, 0))).isDeepEqualTo(new long[][] {{0, 4, 5}, {1, 2}, {3}});
    }

    @Test
    void everySampleIsInOneBatchOfItsBucketOnly() {
        int[] lengths = lengths(1000);
        BatchSampler buckets = buckets(lengths).shuffle(3);
        for (long epoch = 0; epoch < 50; epoch++) {
            long[][] batches = Visits.of(buckets.order(1000, epoch));
            for (long[] batch : batches) {
                int bucket = bucket(lengths[(int) batch[0]]);
                assertThat(batch).hasSizeBetween(1, SIZES[bucket]);
                assertThat(Arrays.stream(batch).map(row -> bucket(lengths[(int) row])))
                        .containsOnly((long) bucket);
            }
            assertThat(Visits.sorted(Visits.flat(batches))).containsExactly(Visits.range(1000));
        }
    }

    @Test
    void numberOfBatchesIsKnownBeforehandAndOnlyOneOfABucketIsShort() {
        int[] lengths = lengths(1000);
        long[] samples = new long[3];
        Arrays.stream(lengths).forEach(length -> samples[bucket(length)]++);
        long full = samples[0] / 32 + samples[1] / 24 + samples[2] / 16;
        long all = (samples[0] + 31) / 32 + (samples[1] + 23) / 24 + (samples[2] + 15) / 16;

        Buckets buckets = buckets(lengths).shuffle(1);
        assertThat(buckets.batches())
                .isEqualTo(all)
                .isEqualTo(buckets.order(1000, 7).batches());
        assertThat(buckets.dropLast(true).batches()).isEqualTo(full);
        for (long[] batch : Visits.of(buckets.dropLast(true).order(1000, 7))) {
            assertThat(batch).hasSize(SIZES[bucket(lengths[(int) batch[0]])]);
        }
    }

    @Test
    void batchesOfAllBucketsAreMixedAndSoAreTheirSamples() {
        int[] lengths = lengths(6000);
        BatchSampler buckets = buckets(lengths).shuffle(SEED);

        long[][] batches = Visits.of(buckets.order(6000, 0));
        long changes = 0;
        for (int i = 1; i < batches.length; i++) {
            changes += bucket(lengths[(int) batches[i][0]]) == bucket(lengths[(int) batches[i - 1][0]]) ? 0 : 1;
        }
        assertThat(changes).isGreaterThan(batches.length / 3);
        assertThat(batches[0]).isNotEqualTo(Visits.sorted(batches[0]));
        assertThat(Visits.of(buckets.order(6000, 1))).isNotEqualTo(batches);
        assertThat(Visits.of(buckets(lengths).shuffle(SEED + 1).order(6000, 0))).isNotEqualTo(batches);
        assertThat(Visits.of(buckets(lengths).shuffle(SEED).order(6000, 0))).isDeepEqualTo(batches);
    }

    @Test
    void shortBatchHasOtherSamplesInEveryEpoch() {
        Buckets buckets = Buckets.of(Lengths.of(new int[101])).batchSizes(10).shuffle(2);
        long[] leftOver = new long[101];
        for (long epoch = 0; epoch < 5_050; epoch++) {
            for (long[] batch : Visits.of(buckets.order(101, epoch))) {
                if (batch.length == 1) {
                    leftOver[(int) batch[0]]++;
                }
            }
        }

        assertThat(Uniformity.chiSquare(leftOver)).isLessThan(Uniformity.limit(100));
    }

    @Test
    void firstSampleOfEveryBatchAddsUp() {
        BatchOrder order = buckets(lengths(500)).shuffle(1).order(500, 0);

        assertThat(order.first(0)).isZero();
        assertThat(order.first(order.batches())).isEqualTo(500);
        assertThatThrownBy(() -> order.row(500)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> order.row(-1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> order.first(order.batches() + 1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void emptyBucketsAndDatasetsHaveNoBatches() {
        assertThat(Visits.of(buckets(new int[0]).shuffle(1).order(0, 0))).isEmpty();
        assertThat(Visits.of(buckets(new int[] {500, 500}).shuffle(1).order(2, 0)).length)
                .isEqualTo(1);
        assertThat(buckets(new int[] {5, 500}).dropLast(true).batches()).isZero();
    }

    @Test
    void bucketsOfASubsetAreByTheLengthsOfItsRows() {
        int[] lengths = {300, 1, 2, 300, 3, 300};
        BatchSampler buckets =
                Buckets.of(Lengths.of(lengths)).bounds(100).batchSizes(2, 2).over(Subset.of(5, 4, 1, 0));

        assertThat(Visits.of(buckets.order(6, 0))).isDeepEqualTo(new long[][] {{4, 1}, {5, 0}});
    }

    @ParameterizedTest
    @CsvSource({"100 100, 1 1 1", "220 100, 1 1 1", "100, 1 0", "100, 1 -1"})
    void boundsAndSizesThatMakeNoBucketsAreRefused(String bounds, String sizes) {
        assertThatThrownBy(() -> Buckets.of(Lengths.of(1)).bounds(ints(bounds)).batchSizes(ints(sizes)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void oneBatchSizeForEachBucketIsRequired() {
        Buckets two = Buckets.of(Lengths.of(1)).bounds(100);

        assertThatThrownBy(() -> two.order(1, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> two.batchSizes(1, 2, 3).batches())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("bounds=[100] batchSizes=[1, 2, 3]");
    }

    @Test
    void lengthsOfAnotherDatasetAreRefused() {
        assertThatThrownBy(() -> buckets(new int[3]).order(4, 0))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("lengths=3 rows=4");
    }

    @Test
    void descriptionTellsWhatIsChosen() {
        assertThat(Buckets.of(Lengths.of(1, 2))
                        .bounds(1)
                        .batchSizes(4, 2)
                        .shuffle(9)
                        .dropLast(true)
                        .description())
                .matches("buckets\\(lengths\\(rows=2 crc32c=[0-9a-f]{8}\\) bounds=\\[1] batchSizes=\\[4, 2] seed=9"
                        + " dropLast\\)");
    }

    private static Buckets buckets(int[] lengths) {
        return Buckets.of(Lengths.of(lengths)).bounds(100, 220).batchSizes(SIZES);
    }

    private static int[] lengths(int rows) {
        return new Random(SEED).ints(rows, 20, 400).toArray();
    }

    private static int bucket(int length) {
        return length <= 100 ? 0 : length <= 220 ? 1 : 2;
    }

    private static int[] ints(String text) {
        return Arrays.stream(text.split(" ", -1)).mapToInt(Integer::parseInt).toArray();
    }
}
