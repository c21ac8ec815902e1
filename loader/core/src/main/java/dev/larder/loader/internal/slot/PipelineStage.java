package dev.larder.loader.internal.slot;

/** Where a batch is on its way to the consumer, as failures name it. */
public enum PipelineStage {
    /** The sampler lays down the order of the epoch. */
    ORDER,
    /** The rows of the batch are looked up in that order. */
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
