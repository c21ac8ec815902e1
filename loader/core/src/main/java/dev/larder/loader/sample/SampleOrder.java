package dev.larder.loader.sample;

/**
 * The order of one epoch: the row at each position.
 *
 * <p>Several threads read any position at the same time, so it must not change.
 */
public interface SampleOrder {
    /** Returns the number of samples of the epoch; a row may come more than once, or not at all. */
    long length();

    /** Returns the row at a position, 0 to {@code length() - 1}. */
    long row(long position);
}
