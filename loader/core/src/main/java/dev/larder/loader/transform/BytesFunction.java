package dev.larder.loader.transform;

import java.nio.ByteBuffer;

/** The user's own step from the bytes of one sample to other bytes. Several threads may call it at the same time, each with its own arguments. */
@FunctionalInterface
public interface BytesFunction {
    /**
     * Fills the result. Do not keep the arguments: they are reused for other samples.
     *
     * @param sample the sample in C order, from position 0 to the limit, in the byte order of its type; read-only
     * @param result has the length of the declared type and shape and the byte order of that type; initially zeros
     * @param random returns the same numbers for the same sample of the same epoch, in every thread
     */
    void apply(ByteBuffer sample, ByteBuffer result, SampleRandom random);
}
