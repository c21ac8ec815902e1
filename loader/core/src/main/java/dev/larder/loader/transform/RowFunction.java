package dev.larder.loader.transform;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The user's own step from the bytes of one row to a row of another type and shape. It must always return the same
 * result for the same bytes. Several threads may call it at the same time, each with its own arguments. Do not keep the
 * arguments: they are reused for other rows.
 */
@FunctionalInterface
public interface RowFunction {
    /**
     * Fills the result. If it throws, this sample fails: see {@code FailurePolicy}.
     *
     * @param row a read-only window on the stored bytes of the row, in the byte order of their type; copy with {@code
     *     row.getBytes(0, result, 0, length)}, because the window does not expose its address
     * @param result a window on the result row, with the length of the declared type and shape; initially zeros
     */
    void apply(DirectBuffer row, MutableDirectBuffer result);

    /** A {@link RowFunction} that draws random numbers. */
    @FunctionalInterface
    interface Random {
        /**
         * Fills the result, like {@link RowFunction#apply}.
         *
         * @param random returns the same numbers for the same sample of the same epoch, in every thread
         */
        void apply(DirectBuffer row, MutableDirectBuffer result, SampleRandom random);
    }
}
