package dev.larder.loader.transform;

import java.nio.ByteBuffer;

/** The user's own step from the bytes of one sample to other bytes. Called by several threads at a time, each with its own arguments. */
@FunctionalInterface
public interface BytesFunction {
    /**
     * Fills the result. Nothing passed in may be kept: all of it is used again for other samples.
     *
     * @param sample the sample in C order, from position 0 to the limit, in the byte order of its type; read-only
     * @param result as long as the declared type and shape ask for, in the byte order of that type; zeros at first
     * @param random gives the same numbers for the same sample of the same epoch, whichever thread asks
     */
    void apply(ByteBuffer sample, ByteBuffer result, SampleRandom random);
}
