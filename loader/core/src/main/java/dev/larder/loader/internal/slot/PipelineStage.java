package dev.larder.loader.internal.slot;

/** The stages of a batch, as failures name them. */
public enum PipelineStage {
    /** The sampler computes the order of the epoch. */
    ORDER,
    /** The plan looks up the rows of the batch in that order. */
    PLAN,
    /** Rows are copied into the slot. */
    GATHER,
    /** Rows are changed on their way into the slot. */
    TRANSFORM,
    /** A batch is changed as a whole. */
    COLLATE,
    /** No slot is free: open batches hold them all. */
    SLOT;

    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
