package dev.larder.loader.transform;

import java.nio.ByteBuffer;

/** The arrays of a batch that a {@link BatchFunction} changes. */
public interface BatchArrays {
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
