package dev.larder.loader;

/**
 * A batch and where it lies, on the host or on devices: memory that is used again and again. What it says holds from when it is
 * filled until it is given back.
 */
abstract class BatchSlot {
    /** The epoch that the batch belongs to. */
    long epoch;

    /** How many samples of that epoch all ranks together visit. */
    long epochLength;

    /** The batch's number in its epoch. */
    long number;

    int size;

    /** How many samples there are that do not stand for one from the start of the epoch. */
    int valid;

    /** How many samples of the epoch all ranks together have consumed after this batch. */
    long consumed;

    /** The row of the dataset that each sample is. */
    long[] rows = {};

    /** Returns what a device has of the batch, or the host if there is none. */
    abstract SlotPart part(int number);
}
