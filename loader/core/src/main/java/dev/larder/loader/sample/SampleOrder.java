package dev.larder.loader.sample;

/**
 * Holds the order of one epoch: at each position, the row to visit.
 *
 * <p>It is read by several threads at once and at any position, so it must not change.
 */
public interface SampleOrder {
    /** Returns how many samples the epoch has; a row may be visited more than once, or not at all. */
    long length();

    /** Writes the rows at positions {@code first} to {@code first + count - 1} to the start of {@code target}. */
    void copyTo(long first, int count, long[] target);
}
