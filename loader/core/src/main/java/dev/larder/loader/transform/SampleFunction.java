package dev.larder.loader.transform;

/** The user's own step over the values of one sample. Several threads may call it at the same time, each with its own arguments. */
@FunctionalInterface
public interface SampleFunction {
    /**
     * Changes the values of a sample in place. Do not keep the arguments: they are reused for other samples.
     *
     * @param values in C order; their number is exactly the product of the shape
     * @param shape the shape of the sample; do not change it
     * @param random returns the same numbers for the same sample of the same epoch, in every thread
     */
    void apply(float[] values, long[] shape, SampleRandom random);
}
