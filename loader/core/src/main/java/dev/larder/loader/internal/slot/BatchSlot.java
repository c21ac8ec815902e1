package dev.larder.loader.internal.slot;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

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

    /** How many of its samples an epoch's state counts: those that only fill up a batch do not. */
    public int counted;

    /** Where batches come in any order: a number above those of all that were delivered, this one included. */
    public long taken;

    /** Where batches come in any order: those before {@link #taken} that were not delivered yet, in any order. */
    public long[] missing = {};

    public int missingCount;

    /** Where batches come in any order: how many samples were delivered that count. */
    public long takenSamples;

    /** Says what is left after it. */
    @Nullable
    public Remainder remainder;

    /** The row of the dataset that each sample is. */
    public long[] rows = {};

    /** Takes over what another slot says of the batch, but its rows. */
    public final void describe(BatchSlot other) {
        epoch = other.epoch;
        epochLength = other.epochLength;
        number = other.number;
        size = other.size;
        valid = other.valid;
        consumed = other.consumed;
        counted = other.counted;
        taken = other.taken;
        takenSamples = other.takenSamples;
        remainder = other.remainder;
        missing = missing.length >= other.missingCount ? missing : new long[other.missing.length];
        System.arraycopy(other.missing, 0, missing, 0, other.missingCount);
        missingCount = other.missingCount;
    }

    /** Returns the batches that were passed over, in ascending order. */
    public final long[] missingInOrder() {
        long[] sorted = Arrays.copyOf(missing, missingCount);
        Arrays.sort(sorted);
        return sorted;
    }

    /** Returns what a device has of the batch, or the host if there is none. */
    public abstract SlotPart part(int number);
}
