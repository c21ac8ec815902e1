package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.Draws;
import dev.larder.loader.internal.sample.Permutation;

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

    /**
     * Visits a subset's rows only: takes them for all the rows there are, and what this knows of each row (labels, weights) is that
     * of the subset's rows. {@code over(a).over(b)} is {@code over(a.within(b))}.
     */
    default Sampler over(Subset subset) {
        return new RestrictedSampler(this, subset);
    }

    /** Visits the rows as they lie in the array, in every epoch. */
    static Sampler sequential() {
        return new NamedSampler("sequential", (rows, epoch) -> new SequentialOrder(rows));
    }

    /**
     * Visits every row once, in the order of PyTorch's {@code randperm}.
     *
     * <p>Epoch {@code e} has the order of {@code torch.manual_seed(seed + e); torch.randperm(rows)}: that of a
     * {@code DistributedSampler} with this seed after {@code set_epoch(e)}. As there, the order depends on the low 32
     * bits of the sum alone. An order takes 4 bytes a row of heap, in one array, from the beginning of its epoch to
     * that of the next. Where the heap has room, a loader makes that of the next epoch meanwhile, and has two then.
     */
    static Sampler random(long seed) {
        return new RandomSampler(seed);
    }

    /**
     * Visits every row once, in a pseudo-random order that is computed place by place: it takes no memory and no time to begin,
     * whatever the number of rows, up to 2⁶², and wherever in the epoch one begins. The sampler for large data.
     *
     * <p>As with {@link #random}, each epoch has another order, which (seed, rows, epoch) alone decide, and every row comes once. The
     * orders differ from those of {@code random} and of PyTorch, and there are fewer of them: a key of 64-bit words for a network
     * of mixing steps stands for each. That is random enough to train with, and no cipher. Looking up a row takes some tens of
     * nanoseconds of calculation instead of a read from memory.
     */
    static Sampler permuted(long seed) {
        return new NamedSampler(
                "permuted(seed=" + seed + ")",
                (rows, epoch) -> new PermutedOrder(Permutation.of(rows, seed, epoch, Draws.PERMUTED)));
    }

    /**
     * Draws rows with replacement, each as likely as its weight says, in proportion to all weights. A draw depends on (seed, epoch,
     * position) alone. Takes 20 bytes a row.
     *
     * @param weights one for each row: finite, at least 0, and not all 0; copied
     * @param samples how many are drawn in an epoch
     */
    static Sampler weighted(double[] weights, long samples, long seed) {
        return WeightedSampler.of(weights.clone(), samples, seed);
    }

    /**
     * Draws rows without replacement: each next one as likely as its weight says, in proportion to the weights of those not drawn
     * yet. An order takes 4 bytes a sample while its epoch lasts, and up to 24 bytes a row more while it is laid down, before its
     * first row can be asked for.
     *
     * @param weights one for each row: finite, at least 0, and as many of them above 0 as samples are drawn; copied
     * @param samples how many are drawn in an epoch
     */
    static Sampler weightedWithoutReplacement(double[] weights, long samples, long seed) {
        return WeightedOnceSampler.of(weights.clone(), samples, seed);
    }

    /**
     * Visits every row once, so that however little of an epoch is read, classes are in nearly the proportions of the whole, and
     * rows of one class come in random order.
     *
     * <p>Of a class that has the part {@code p} of all rows, the first {@code m} samples have {@code p · m} rows, by at most
     * {@code 1 + p · (classes - 2)} more or less: for two classes, one sample. Where in this the samples of a class come is random,
     * so that what one of several ranks sees is not skewed. An order takes 4 bytes a row while its epoch lasts, and 16 bytes a row
     * more while it is laid down, before its first row can be asked for.
     */
    static Sampler stratified(Labels labels, long seed) {
        return new StratifiedSampler(labels, seed);
    }
}
