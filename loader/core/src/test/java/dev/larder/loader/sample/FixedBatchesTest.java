package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class FixedBatchesTest {
    @Test
    void batchesOfFixedSizeEndWithAShortOneOrWithoutIt() {
        BatchSampler kept = BatchSampler.of(Sampler.sequential(), 3, false);
        BatchSampler dropped = BatchSampler.of(Sampler.sequential(), 3, true);

        assertThat(Visits.of(kept.order(7, 0))).isDeepEqualTo(new long[][] {{0, 1, 2}, {3, 4, 5}, {6}});
        assertThat(Visits.of(dropped.order(7, 0))).isDeepEqualTo(new long[][] {{0, 1, 2}, {3, 4, 5}});
        assertThat(kept.order(0, 0).batches()).isZero();
        assertThat(dropped.order(2, 0).batches()).isZero();
        assertThat(kept.order(1L << 40, 0).first(1L << 38)).isEqualTo(3L << 38);
        assertThatThrownBy(() -> dropped.order(7, 0).row(6)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> BatchSampler.of(Sampler.sequential(), 0, true)).hasMessageContaining("batchSize=0");
    }

    @Test
    void batchSamplerOfOnesOwnIsRestrictedToASubsetToo() {
        BatchSampler pairs =
                (rows, epoch) -> BatchSampler.of(Sampler.sequential(), 2, false).order(rows, epoch);

        assertThat(Visits.of(pairs.over(Subset.of(9, 5, 7)).order(10, 0))).isDeepEqualTo(new long[][] {{9, 5}, {7}});
        assertThat(pairs.over(Subset.range(1, 2)).description()).isEqualTo("custom over range(first=1 count=2)");
    }
}
