package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.Draws;
import dev.larder.loader.internal.sample.Permutation;

/**
 * Chooses the rows of an epoch and their order.
 *
 * <p>A sampler is a pure function of the number of rows and the epoch (a seed is part of the sampler itself). It
 * returns the same order every time, on every thread, so batches are reproducible.
 */
@FunctionalInterface
public interface Sampler {
    /** Returns the order of one epoch over rows {@code 0} to {@code rows - 1}. */
    SampleOrder order(long rows, long epoch);

    /** Returns a short description with the seed. Samplers with equal descriptions choose equal orders. */
    default String description() {
        return "custom";
    }

    /**
     * Returns a sampler for a subset's rows only; values for each row (labels, weights) then belong to the rows of the subset.
     * {@code over(a).over(b)} is {@code over(a.within(b))}.
     */
    default Sampler over(Subset subset) {
        return new RestrictedSampler(this, subset);
    }

    /** Visits the rows in the order of the array, in every epoch. */
    static Sampler sequential() {
        return new NamedSampler("sequential", (rows, epoch) -> new SequentialOrder(rows));
    }

    /**
     * Visits every row once, in the order of PyTorch's {@code randperm}.
     *
     * <p>Epoch {@code e} has the order of {@code torch.manual_seed(seed + e); torch.randperm(rows)}: that of a
     * {@code DistributedSampler} with this seed after {@code set_epoch(e)}. As in PyTorch, the order depends only on
     * the low 32 bits of the sum. An order takes 4 bytes of heap for each row, in one array, during its epoch. If the heap has
     * room, a loader computes the next order before its epoch begins, and then has two.
     */
    static Sampler random(long seed) {
        return new RandomSampler(seed);
    }

    /**
     * Visits every row once, in a pseudo-random order that is computed row by row: it takes no memory, and any position of the epoch is
     * available immediately, for up to 2⁶² rows. The sampler for large data.
     *
     * <p>As with {@link #random}, each epoch has another order, which depends only on (seed, rows, epoch). The orders differ from those of
     * {@code random} and of PyTorch, and there are fewer of them: each is the permutation of a Feistel network for a key of 64-bit
     * words. That is random enough for training, but not a cipher. To compute a row takes tens of nanoseconds instead of a read from
     * memory.
     */
    static Sampler permuted(long seed) {
        return new NamedSampler(
                "permuted(seed=" + seed + ")",
                (rows, epoch) -> new PermutedOrder(Permutation.of(rows, seed, epoch, Draws.PERMUTED)));
    }

    /**
     * Draws rows with replacement, with probabilities in proportion to their weights. A draw depends only on (seed, epoch, position). Takes
     * 20 bytes a row.
     *
     * @param weights one for each row: finite, at least 0, and not all 0; copied
     * @param samples the number of draws in an epoch
     */
    static Sampler weighted(double[] weights, long samples, long seed) {
        return WeightedSampler.of(weights.clone(), samples, seed);
    }

    /**
     * Draws rows without replacement, with probabilities in proportion to their weights among the remaining rows. An order takes 4 bytes
     * for each sample during its epoch, and up to 24 bytes more for each row while it is computed, before its first row is available.
     *
     * @param weights one for each row: finite, at least 0, and at least {@code samples} of them above 0; copied
     * @param samples the number of draws in an epoch
     */
    static Sampler weightedWithoutReplacement(double[] weights, long samples, long seed) {
        return WeightedOnceSampler.of(weights.clone(), samples, seed);
    }

    /**
     * Visits every row once, so that any beginning of an epoch has the classes in nearly the same proportions as the whole. The rows of a
     * class come in random order.
     *
     * <p>Of a class that has the part {@code p} of all rows, the first {@code m} samples have {@code p · m} rows, by at most
     * {@code 1 + p · (classes - 2)} more or less: for two classes, one sample. The exact positions of a class are random, so that
     * each of several ranks sees the same proportions. An order takes 4 bytes for each row during its epoch, and 16 bytes more while it
     * is computed, before its first row is available.
     */
    static Sampler stratified(Labels labels, long seed) {
        return new StratifiedSampler(labels, seed);
    }
}
