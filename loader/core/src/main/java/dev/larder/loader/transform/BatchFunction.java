package dev.larder.loader.transform;

import java.nio.ByteBuffer;

/** The user's own step over a batch as a whole. Called by several threads at a time, each with its own batch. */
@FunctionalInterface
public interface BatchFunction {
    /** The arrays of a batch that a {@link BatchFunction} changes. */
    interface Arrays {
        /** Returns how many samples the batch has. */
        int size();

        /** Returns which row a sample is. */
        long row(int sample);

        /**
         * Returns the bytes of an array, of all samples in C order, from position 0 to the limit, in the byte order of its type. The same buffer
         * for each call: set its position and limit as you like. Allocates nothing.
         */
        ByteBuffer array(String name);

        /** Returns a dimension of an array: the first is mostly the samples. */
        long dimension(String name, int number);
    }

    /**
     * Changes the arrays of a batch where they are, and fills the further ones that were declared. Nothing passed in may be kept: all of it
     * is used again for other batches.
     *
     * @param batch what the fields made, of at least one sample
     * @param random gives the same numbers for the same batch of the same epoch, whichever thread asks
     */
    void apply(Arrays batch, SampleRandom random);
}
