package dev.larder.loader.sample;

/**
 * Holds the order of one epoch: at each position, the row to visit.
 *
 * <p>It is read by several threads at once and at any position, so it must not change.
 */
public interface SampleOrder {
    /** Returns how many samples the epoch has; a row may be visited more than once, or not at all. */
    long length();

    /** Returns the row at a position, 0 to {@code length() - 1}. */
    long row(long position);
}
