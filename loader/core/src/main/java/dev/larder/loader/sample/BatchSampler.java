package dev.larder.loader.sample;

/**
 * Chooses the rows of an epoch, their order, and the rows of each batch; for batches that are not simply a fixed number of consecutive
 * samples. A pure function, as a {@link Sampler} is.
 */
@FunctionalInterface
public interface BatchSampler {
    /** Returns the batches of one epoch over rows {@code 0} to {@code rows - 1}. */
    BatchOrder order(long rows, long epoch);

    /** Returns a short description with the seed. Samplers with equal descriptions choose equal batches. */
    default String description() {
        return "custom";
    }

    /** Returns a sampler for a subset's rows only; values for each row, such as lengths, then belong to the rows of the subset. */
    default BatchSampler over(Subset subset) {
        return new RestrictedBatches(this, subset);
    }

    /** Returns batches of a fixed size; the last one is smaller, or omitted if {@code dropLast}. */
    static BatchSampler of(Sampler sampler, int batchSize, boolean dropLast) {
        return new FixedBatches(sampler, batchSize, dropLast);
    }
}
