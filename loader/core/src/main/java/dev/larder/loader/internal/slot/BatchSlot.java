package dev.larder.loader.internal.slot;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The memory and metadata of a batch, on the host or on devices. A slot is reused; its metadata is valid from when it is filled until it
 * is returned.
 */
public abstract class BatchSlot {
    /** The epoch of the batch. */
    public long epoch;

    /** The number of samples of the epoch for all ranks together. */
    public long epochLength;

    /** The batch's number in its epoch. */
    public long number;

    public int size;

    /** The number of samples without padding from the start of the epoch. */
    public int valid;

    /** The number of samples of the epoch that all ranks together have consumed after this batch. */
    public long consumed;

    /** The number of its samples that an epoch's state counts: those that only pad a batch do not. */
    public int counted;

    /** The sum of the receipt's terms of the samples that were skipped in the delivered batches, this one included. */
    public long takenSkippedTerms;

    /** If batches come in any order: one more than the largest number of a delivered batch, this one included. */
    public long taken;

    /** If batches come in any order: the batches before {@link #taken} that were not delivered yet, unsorted. */
    public long[] missing = {};

    public int missingCount;

    /** If batches come in any order: the number of delivered samples that count. */
    public long takenSamples;

    /** Computes the rest of the epoch after it. */
    @Nullable
    public Remainder remainder;

    /** The row of each sample in the dataset. */
    public long[] rows = {};

    /** Copies the metadata of another slot, except its rows. */
    public final void describe(BatchSlot other) {
        epoch = other.epoch;
        epochLength = other.epochLength;
        number = other.number;
        size = other.size;
        valid = other.valid;
        consumed = other.consumed;
        counted = other.counted;
        takenSkippedTerms = other.takenSkippedTerms;
        taken = other.taken;
        takenSamples = other.takenSamples;
        remainder = other.remainder;
        missing = missing.length >= other.missingCount ? missing : new long[other.missing.length];
        System.arraycopy(other.missing, 0, missing, 0, other.missingCount);
        missingCount = other.missingCount;
    }

    /** Returns the batches that were not delivered, in ascending order. */
    public final long[] missingInOrder() {
        long[] sorted = Arrays.copyOf(missing, missingCount);
        Arrays.sort(sorted);
        return sorted;
    }

    /** Returns the part of the batch on a device, or on the host if there is no device. */
    public abstract SlotPart part(int number);
}
