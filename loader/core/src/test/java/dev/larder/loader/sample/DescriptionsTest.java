package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Descriptions are in saved states: a sampler with another order has another one. */
class DescriptionsTest {
    private static final Lengths LENGTHS = Lengths.of(1, 2);
    private static final Labels LABELS = Labels.of(5, 7);
    private static final String CRC = "crc32c=[0-9a-f]{8}";

    @Test
    void samplersAreDescribedWithTheirSettings() {
        double[] weights = {1, 2};
        assertDescribed(Sampler.sequential(), "sequential");
        assertDescribed(Sampler.random(-3), "random\\(seed=-3\\)");
        assertDescribed(Sampler.permuted(4), "permuted\\(seed=4\\)");
        assertDescribed(
                Sampler.weighted(weights, 9, 5), "weighted\\(weights\\(rows=2 " + CRC + "\\) samples=9 seed=5\\)");
        assertDescribed(
                Sampler.weightedWithoutReplacement(weights, 1, 6),
                "weightedWithoutReplacement\\(weights\\(rows=2 " + CRC + "\\) samples=1 seed=6\\)");
        assertDescribed(Sampler.stratified(LABELS, 7), "stratified\\(labels\\(rows=2 " + CRC + "\\) seed=7\\)");
        assertDescribed(
                Sampler.random(8).over(Subset.range(1, 2)), "random\\(seed=8\\) over range\\(first=1 count=2\\)");
    }

    private static void assertDescribed(Sampler sampler, String pattern) {
        assertThat(sampler.description()).matches(pattern);
        assertThat(sampler).hasToString(sampler.description());
    }

    @Test
    void mixturesAreDescribedWithTheirSettings() {
        assertDescribed(
                Mixture.weights(6, 0.5).sampler(Sampler.random(1), 2, 30, 40),
                "mix\\(weights=6.0,0.5 STOP rows=30,40 seed=2\\) of random\\(seed=1\\)");
        assertDescribed(
                Mixture.bySize().temperature(2).samples(9).sampler(Sampler.sequential(), 0, 1),
                "mix\\(bySize temperature=2.0 REPEAT samples=9 rows=1 seed=0\\) of sequential");
        assertThat(Mixture.weights(6, 3)).hasToString("Mixture{[6.0, 3.0] STOP}");
        assertThat(Mixture.bySize().exhausted(Mixture.Exhausted.UNTIL_ALL)).hasToString("Mixture{bySize UNTIL_ALL}");
    }

    @Test
    void batchSamplersAreDescribedWithTheirSettings() {
        String lengths = "lengths\\(rows=2 " + CRC + "\\)";
        assertBatchesDescribed(
                BatchSampler.of(Sampler.random(1), 5, false), "random\\(seed=1\\) in batches\\(size=5\\)");
        assertBatchesDescribed(
                BatchSampler.of(Sampler.random(1), 5, true), "random\\(seed=1\\) in batches\\(size=5 dropLast\\)");
        Buckets buckets = Buckets.of(LENGTHS).bounds(1).batchSizes(4, 2);
        assertBatchesDescribed(buckets, "buckets\\(" + lengths + " bounds=\\[1] batchSizes=\\[4, 2]\\)");
        assertBatchesDescribed(
                buckets.shuffle(9).dropLast(true),
                "buckets\\(" + lengths + " bounds=\\[1] batchSizes=\\[4, 2] seed=9 dropLast\\)");
        assertBatchesDescribed(
                buckets.over(Subset.range(0, 2)),
                "buckets\\(" + lengths + " bounds=\\[1] batchSizes=\\[4, 2]\\) over range\\(first=0 count=2\\)");
        TokenBudget budget = TokenBudget.of(LENGTHS).maxTokens(4);
        assertBatchesDescribed(budget, "tokenBudget\\(" + lengths + " maxTokens=4 maxSamples=0 window=0\\)");
        assertBatchesDescribed(
                budget.maxSamples(3).window(2).leaveOutLonger().shuffle(1),
                "tokenBudget\\(" + lengths + " maxTokens=4 maxSamples=3 window=2 leavesOutLonger seed=1\\)");
    }

    private static void assertBatchesDescribed(BatchSampler sampler, String pattern) {
        assertThat(sampler.description()).matches(pattern);
        assertThat(sampler).hasToString(sampler.description());
    }

    @Test
    void subsetsAreDescribedWithTheirRows() {
        assertThat(Subset.of(3, 4)).hasToString(Subset.of(3, 4).description());
        assertThat(Subset.of(3, 4).description()).matches("rows\\(count=2 " + CRC + "\\)");
        assertThat(Subset.of(1).within(Subset.range(5, 6)).description())
                .matches("rows\\(count=1 " + CRC + "\\) within range\\(first=5 count=6\\)");
        assertThat(LENGTHS).hasToString("Lengths{rows=2}");
        assertThat(Labels.of(5, 7, 5)).hasToString("Labels{rows=3 classes=2}");
    }

    @Test
    void otherValuesHaveOtherDescriptions() {
        for (List<String> two : List.of(
                List.of(described(Labels.of(1, 2)), described(Labels.of(2, 1))),
                List.of(described(Lengths.of(1, 2)), described(Lengths.of(2, 1))),
                List.of(
                        Sampler.weighted(new double[] {1, 2}, 1, 1).description(),
                        Sampler.weighted(new double[] {2, 1}, 1, 1).description()))) {
            assertThat(two.get(0)).isNotEqualTo(two.get(1));
        }
        assertThat(described(Labels.of(1, 2))).isEqualTo(described(Labels.of(1L, 2L)));
    }

    private static String described(Labels labels) {
        return Sampler.stratified(labels, 1).description();
    }

    private static String described(Lengths lengths) {
        return Buckets.of(lengths).batchSizes(1).description();
    }
}
