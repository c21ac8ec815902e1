package dev.larder.loader.internal.plan;

import dev.larder.loader.internal.sample.OrderThread;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import org.jspecify.annotations.Nullable;

/** Plans epochs, from their beginning or from where an earlier run stopped. */
public interface EpochPlanner {
    Plan whole(long rows, long epoch);

    /**
     * Plans the rest of an epoch of {@code length} samples after {@code consumed} samples: the first ones, unless {@code rest} lists
     * the remaining ones.
     */
    Plan rest(long rows, long epoch, @Nullable Rest rest, long consumed, long length);

    /** Returns whether looking up rows runs user code, which may take any time. */
    boolean runsUserCode();

    /**
     * Returns the most bytes of heap to compute the order of an epoch first: 0 if rows are computed one by one, or by user code.
     */
    long heapBytes(long rows);

    private static boolean isOurs(Object sampler, String description) {
        boolean isPart = sampler.getClass().getPackage() == Sampler.class.getPackage();
        return isPart && !description.contains("custom"); // our samplers may contain the user's
    }

    /** Plans batches of a fixed number of samples of an order. */
    record OfSamples(Sampler sampler, SamplePlan.Batching batching) implements EpochPlanner {
        @Override
        public boolean runsUserCode() {
            return !isOurs(sampler, sampler.description());
        }

        @Override
        public long heapBytes(long rows) {
            return OrderThread.heapBytes(sampler, rows);
        }

        @Override
        public Plan whole(long rows, long epoch) {
            return SamplePlan.whole(epoch, () -> sampler.order(rows, epoch), batching);
        }

        @Override
        public Plan rest(long rows, long epoch, @Nullable Rest rest, long consumed, long length) {
            Rest left = rest == null ? Rest.from(consumed) : rest;
            return SamplePlan.rest(epoch, () -> sampler.order(rows, epoch), batching, left, length);
        }
    }

    /** Plans the batches of a batch sampler; if padded, no rank gets an empty one. */
    record OfBatches(BatchSampler sampler, Shard shard, boolean isPadded) implements EpochPlanner {
        @Override
        public boolean runsUserCode() {
            return !isOurs(sampler, sampler.description());
        }

        @Override
        public long heapBytes(long rows) {
            return OrderThread.heapBytes(sampler, rows);
        }

        @Override
        public Plan whole(long rows, long epoch) {
            return WholeBatchPlan.whole(epoch, () -> sampler.order(rows, epoch), dealing());
        }

        private WholeBatchPlan.Dealing dealing() {
            return new WholeBatchPlan.Dealing(shard, isPadded);
        }

        @Override
        public Plan rest(long rows, long epoch, @Nullable Rest rest, long consumed, long length) {
            return WholeBatchPlan.rest(
                    epoch, () -> sampler.order(rows, epoch), dealing(), rest, consumed, length);
        }
    }
}
