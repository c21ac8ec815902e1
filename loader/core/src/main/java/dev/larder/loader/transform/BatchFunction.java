package dev.larder.loader.transform;

/** The user's own step over a batch as a whole. Called by several threads at a time, each with its own batch. */
@FunctionalInterface
public interface BatchFunction {
    /**
     * Changes the arrays of a batch where they are, and fills the further ones that were declared. Nothing passed in may be kept: all of it
     * is used again for other batches.
     *
     * @param batch what the fields made, of at least one sample
     * @param random gives the same numbers for the same batch of the same epoch, whichever thread asks
     */
    void apply(BatchArrays batch, SampleRandom random);
}
