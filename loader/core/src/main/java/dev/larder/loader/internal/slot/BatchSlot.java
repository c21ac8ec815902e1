package dev.larder.loader.internal.slot;

/**
 * A batch and where it lies, on the host or on devices: memory that is used again and again. What it says holds from when it is
 * filled until it is given back.
 */
public abstract class BatchSlot {
    /** The epoch that the batch belongs to. */
    public long epoch;

    /** How many samples of that epoch all ranks together visit. */
    public long epochLength;

    /** The batch's number in its epoch. */
    public long number;

    public int size;

    /** How many samples there are that do not stand for one from the start of the epoch. */
    public int valid;

    /** How many samples of the epoch all ranks together have consumed after this batch. */
    public long consumed;

    /** The row of the dataset that each sample is. */
    public long[] rows = {};

    /** Returns what a device has of the batch, or the host if there is none. */
    public abstract SlotPart part(int number);
}
