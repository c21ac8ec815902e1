package dev.larder.loader.transform;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The user's own step from the bytes of one row to a row whose first dimension differs from row to row. Must give the
 * same for the same bytes, at any time. Called by several threads at a time, each with its own arguments, which are
 * used again for other rows and not to be kept.
 */
@FunctionalInterface
public interface RaggedFunction {
    /**
     * Fills the first items of the result and returns how many they are. What it throws is the failure of this sample:
     * see {@code FailurePolicy}.
     *
     * @param row a read-only window on the row's bytes where they lie, in the byte order of their type; copy with {@code
     *     row.getBytes(0, result, 0, length)}, as it does not give its address away
     * @param result a window on what the row becomes, as long as the declared type and shape ask for; zeros at first
     */
    int apply(DirectBuffer row, MutableDirectBuffer result);

    /** A {@link RaggedFunction} that draws random numbers. */
    @FunctionalInterface
    interface Random {
        /**
         * Fills the first items of the result and returns how many they are, as {@link RaggedFunction#apply}.
         *
         * @param random gives the same numbers for the same sample of the same epoch, whichever thread asks
         */
        int apply(DirectBuffer row, MutableDirectBuffer result, SampleRandom random);
    }
}
