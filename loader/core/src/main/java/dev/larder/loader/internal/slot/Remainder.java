package dev.larder.loader.internal.slot;

/** Computes the rest of an epoch after one of its batches, for states. */
public interface Remainder {
    /**
     * Returns the number of samples that are consumed after a batch: by all ranks together if batches are delivered in order; else by
     * this rank, plus those that all ranks had consumed at its start.
     */
    long consumed(BatchSlot batch, boolean inOrder);

    /** Returns details that the number does not contain; empty if it is enough. */
    String progress(BatchSlot batch, boolean inOrder);
}
