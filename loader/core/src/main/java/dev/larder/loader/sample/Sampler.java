package dev.larder.loader.sample;

/**
 * Decides which rows an epoch visits, and in which order.
 *
 * <p>A sampler is a pure function of the number of rows and the epoch (a seed is part of the sampler itself): asked
 * twice, it answers the same, whichever thread asks and whatever was asked before. This is what makes batches
 * reproducible.
 */
@FunctionalInterface
public interface Sampler {
    /** Lays down the order of one epoch over rows {@code 0} to {@code rows - 1}. */
    SampleOrder order(long rows, long epoch);

    /** Says in a few words what this chooses, seed included: two that say the same choose the same. */
    default String description() {
        return "custom";
    }

    /** Visits the rows as they lie in the array, in every epoch. */
    static Sampler sequential() {
        return (rows, epoch) -> new SequentialOrder(rows);
    }

    /**
     * Visits every row once, in the order of PyTorch's {@code randperm}.
     *
     * <p>Epoch {@code e} has the order of {@code torch.manual_seed(seed + e); torch.randperm(rows)}: that of a
     * {@code DistributedSampler} with this seed after {@code set_epoch(e)}. As there, the order depends on the low 32
     * bits of the sum alone. An order takes 4 bytes a row while its epoch lasts.
     */
    static Sampler random(long seed) {
        return (rows, epoch) -> RandomOrder.of(rows, seed + epoch);
    }
}
