package dev.larder.loader.internal.slot;

import org.jspecify.annotations.Nullable;

/** Computes the rest of an epoch after one of its batches, for states. */
public interface Remainder {
    /**
     * Returns the number of samples that are consumed after a batch: by all ranks together if batches are delivered in order; else by
     * this rank, plus those that all ranks had consumed at its start.
     */
    long consumed(BatchSlot batch, boolean inOrder);

    /** Returns details that the number does not contain; empty if it is enough. */
    String progress(BatchSlot batch, boolean inOrder);

    /**
     * Returns the receipt of the consumed samples, or null if that of the samples before a resume is unknown. If batches come in any order,
     * it has those of this rank; rank 0 adds {@code start} and those before a resume.
     *
     * @param start the receipt of no samples
     */
    @Nullable
    Receipt receipt(BatchSlot batch, boolean inOrder, Receipt start);
}
