package dev.larder.loader.sample;

/**
 * The batches of one epoch, for all ranks together.
 *
 * <p>Several threads read any batch at the same time, so it must not change.
 */
public interface BatchOrder {
    /** Returns the number of batches. */
    long batches();

    /** Returns the number of samples before a batch; for {@code batches()}, that of the whole epoch. */
    long first(long batch);

    /** Returns the row at a position of the epoch, batch after batch. */
    long row(long position);

    /** Returns the number of samples in a batch, at least one. */
    default int size(long batch) {
        return Math.toIntExact(first(batch + 1) - first(batch));
    }
}
