package dev.larder.loader.sample;

/**
 * Decides which rows an epoch visits, in which order, and which of them make up a batch: where batches are more than every so
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
}
