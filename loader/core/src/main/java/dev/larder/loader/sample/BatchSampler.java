package dev.larder.loader.sample;

/**
 * Decides which rows an epoch visits, in which order, and which rows form a batch: where batches are more than every so
 * many samples of an order. Pure as a {@link Sampler} is.
 */
@FunctionalInterface
public interface BatchSampler {
    /** Lays down the batches of one epoch over rows {@code 0} to {@code rows - 1}. */
    BatchOrder order(long rows, long epoch);

    /** Says in a few words what this chooses, seed included: two that say the same choose the same. */
    default String description() {
        return "custom";
    }

    /** Makes batches of a subset's rows only; what this knows of each row is that of the subset's rows then. */
    default BatchSampler over(Subset subset) {
        return new RestrictedBatches(this, subset);
    }

    /** Makes a batch of every so many samples; the last one has fewer where they do not suffice, or is left out. */
    static BatchSampler of(Sampler sampler, int batchSize, boolean dropLast) {
        return new FixedBatches(sampler, batchSize, dropLast);
    }
}
