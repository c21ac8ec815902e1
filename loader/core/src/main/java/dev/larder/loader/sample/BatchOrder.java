package dev.larder.loader.sample;

/**
 * Holds the batches of one epoch, for all ranks together.
 *
 * <p>It is read by several threads at once and at any batch, so it must not change.
 */
public interface BatchOrder {
    /** Returns how many batches the epoch has. */
    long batches();

    /** Returns how many samples come before a batch: with {@code batches()} for the batch, those of the whole epoch. */
    long first(long batch);

    /** Returns the row at a position of the epoch, batch after batch. */
    long row(long position);

    /** Returns how many samples a batch has: at least one. */
    default int size(long batch) {
        return Math.toIntExact(first(batch + 1) - first(batch));
    }
}
