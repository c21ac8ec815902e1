package dev.larder.loader.transform;

/** The user's own step over the values of one sample. Called by several threads at a time, each with its own arguments. */
@FunctionalInterface
public interface SampleFunction {
    /**
     * Changes the values of a sample where they are. Nothing passed in may be kept: all of it is used again for other samples.
     *
     * @param values in C order, exactly as many as the shape says
     * @param shape to be read only
     * @param random gives the same numbers for the same sample of the same epoch, whichever thread asks
     */
    void apply(float[] values, long[] shape, SampleRandom random);
}
