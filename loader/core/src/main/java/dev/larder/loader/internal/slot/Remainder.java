package dev.larder.loader.internal.slot;

/** Says what is left of an epoch after one of its batches, as states keep it. */
public interface Remainder {
    /**
     * Returns how many samples of the epoch are consumed after a batch: by all ranks together, where batches are delivered in their order;
     * else by this rank, and what all had consumed when it began.
     */
    long consumed(BatchSlot batch, boolean inOrder);

    /** Returns what that number alone does not say; empty where there is nothing more to say. */
    String progress(BatchSlot batch, boolean inOrder);
}
