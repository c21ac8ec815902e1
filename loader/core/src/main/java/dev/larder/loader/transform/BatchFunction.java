package dev.larder.loader.transform;

import java.nio.ByteBuffer;

/** The user's own step over a whole batch. Several threads may call it at the same time, each with its own batch. */
@FunctionalInterface
public interface BatchFunction {
    /** The arrays of a batch that a {@link BatchFunction} changes. */
    interface Arrays {
        /** Returns the number of samples in the batch. */
        int size();

        /** Returns the row number of a sample. */
        long row(int sample);

        /**
         * Returns the bytes of an array: all samples in C order, from position 0 to the limit, in the byte order of its type. Each call
         * returns the same buffer, so the caller may change its position and limit. Allocates nothing.
         */
        ByteBuffer array(String name);

        /** Returns a dimension of an array. The first dimension is usually the samples. */
        long dimension(String name, int number);
    }

    /**
     * Changes the arrays of a batch in place, and fills the additional arrays that were declared. Do not keep the arguments: they are
     * reused for other batches.
     *
     * @param batch the output of the fields, with at least one sample
     * @param random returns the same numbers for the same batch of the same epoch, in every thread
     */
    void apply(Arrays batch, SampleRandom random);
}
