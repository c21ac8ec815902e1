package dev.larder.loader.internal.slot;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.HostAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Memory of the host for one batch, which plans and readers fill; it grows where a batch needs more than any before. */
public class HostSlot extends BatchSlot implements SlotPart {
    /** The batch's bytes, array by array. */
    public final SlotArray[] arrays;

    /** The place of each sample in the epoch. */
    public long[] positions;

    /** The rows of a field whose rows are looked up, by the field's place; null for other fields. */
    public final long[] @Nullable [] lookedUp;

    /** How long each sample's row became, by the field's place; null where that is known beforehand. */
    private final int[] @Nullable [] lengths;

    /** How many samples of a field are not made yet, by its place; null where nobody needs to know. */
    private final @Nullable AtomicInteger[] left;

    /** The sample that is being looked up. */
    public int cursor;

    /** Samples that could not be had and are to be left out. */
    public boolean[] bad;

    public int badCount;

    /** Set by the ring after the batch has failed or its epoch has ended: no more work is done for it. */
    public volatile boolean ended;

    /** Takes memory for batches of so many samples, which is the slot's then. */
    public HostSlot(List<OutputArray> outputs, int fields, int samples, HostAllocator allocator) {
        this.rows = new long[samples];
        this.positions = new long[samples];
        this.bad = new boolean[samples];
        this.lookedUp = new long[fields][];
        this.lengths = new int[fields][];
        this.left = new AtomicInteger[fields];
        this.arrays = new SlotArray[outputs.size()];
        try {
            for (int i = 0; i < arrays.length; i++) {
                OutputArray output = outputs.get(i);
                arrays[i] = new SlotArray(output, output.rowByteSize() * samples, allocator);
            }
        } catch (Throwable e) {
            closeMemory();
            throw e;
        }
    }

    /** Gives the memory back, in the opposite order: when no thread can use it any more. */
    public final void closeMemory() {
        for (int i = arrays.length - 1; i >= 0; i--) {
            if (arrays[i] != null) { // memory ran out before it
                arrays[i].owned().close();
            }
        }
    }

    /** Ends the caller's work on a batch that has ended: called before each sample, so that no more of the user's code runs. */
    public final void requireNotEnded() {
        if (ended) {
            throw new CancellationException("the batch has ended");
        }
    }

    /** Makes room for so many samples. */
    public final void resize(int samples) {
        size = samples;
        cursor = 0;
        if (rows.length < samples) {
            rows = new long[samples];
            positions = new long[samples];
            bad = new boolean[samples];
        }
        Arrays.fill(bad, 0, samples, false);
    }

    /** Returns room for the looked up rows of a field. */
    public final long[] lookedUp(int field) {
        long[] room = lookedUp[field];
        if (room == null || room.length < size) {
            room = new long[rows.length];
            lookedUp[field] = room;
        }
        return room;
    }

    /** Returns room for how long the rows of a field became. */
    public final int[] lengths(int field) {
        int[] room = lengths[field];
        if (room == null || room.length < size) {
            room = new int[rows.length];
            lengths[field] = room;
        }
        return room;
    }

    /** Returns the count of a field's samples that are not made yet. */
    public final AtomicInteger left(int field) {
        AtomicInteger count = left[field];
        if (count == null) {
            count = new AtomicInteger();
            left[field] = count;
        }
        return count;
    }

    /** Leaves out the samples that could not be had; those after them move up. */
    public final void dropBad() {
        int kept = 0;
        int keptValid = 0;
        for (int i = 0; i < size; i++) {
            if (!bad[i]) {
                keptValid += i < valid ? 1 : 0;
                rows[kept] = rows[i];
                positions[kept++] = positions[i];
            }
        }
        Arrays.fill(bad, 0, size, false);
        badCount = 0;
        size = kept;
        valid = keptValid;
    }

    // ---- its only part

    @Override
    public final SlotPart part(int number) {
        return this;
    }

    @Override
    public final @Nullable DeviceBackend device() {
        return null;
    }

    @Override
    public final int firstSample() {
        return 0;
    }

    @Override
    public final int size() {
        return size;
    }

    @Override
    public final Fence ready() {
        return Fence.passed();
    }

    @Override
    public final ArrayMemory array(int place) {
        return arrays[place];
    }
}
