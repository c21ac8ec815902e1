package dev.larder.loader.internal.slot;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.device.HostMemory;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Host memory for one batch, which plans and readers fill; it grows if a batch needs more than any before. */
public class HostSlot extends BatchSlot implements SlotPart {
    /** The batch's bytes, array by array. */
    public final SlotArray[] arrays;

    /** The position of each sample in the epoch. */
    public long[] positions;

    /** The rows of a field that looks them up, by the index of the field; null for other fields. */
    public final long[] @Nullable [] lookedUp;

    /** The length of each sample's row, by the index of the field; null if lengths are fixed. */
    private final int[] @Nullable [] lengths;

    /** The number of samples of a field that are not computed yet, by its index; null if no reader needs it. */
    private final @Nullable AtomicInteger[] left;

    /** The sample that is being looked up. */
    public int cursor;

    /** Samples that failed and are skipped. */
    public boolean[] bad;

    public int badCount;

    /** The sum of the receipt's terms of its valid samples that were skipped. */
    public long skippedTerms;

    /** Set by the ring after the batch has failed or its epoch has ended, to stop all work for it. */
    public volatile boolean ended;

    /** Allocates memory for batches of {@code samples} samples. Owns it. */
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

    /** Returns a slot for the rows of a batch only. */
    public static HostSlot withoutMemory() {
        return new HostSlot(List.of(), 0, 0, HostMemory::allocate);
    }

    /** Frees the memory in the opposite order of allocation. No thread may use it any more. */
    public final void closeMemory() {
        for (int i = arrays.length - 1; i >= 0; i--) {
            if (arrays[i] != null) { // null if memory ran out before it
                arrays[i].owned().close();
            }
        }
    }

    /** Fails if the batch has ended. Called before each sample, so that no more user code runs. */
    public final void requireNotEnded() {
        if (ended) {
            throw new CancellationException("the batch has ended");
        }
    }

    /** Sets the number of samples; grows the memory if needed. */
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

    /** Returns the array for the rows that a field looks up. */
    public final long[] lookedUp(int field) {
        long[] room = lookedUp[field];
        if (room == null || room.length < size) {
            room = new long[rows.length];
            lookedUp[field] = room;
        }
        return room;
    }

    /** Returns the array for the lengths of a field's rows. */
    public final int[] lengths(int field) {
        int[] room = lengths[field];
        if (room == null || room.length < size) {
            room = new int[rows.length];
            lengths[field] = room;
        }
        return room;
    }

    /** Returns the counter of a field's samples that are not computed yet. */
    public final AtomicInteger left(int field) {
        AtomicInteger count = left[field];
        if (count == null) {
            count = new AtomicInteger();
            left[field] = count;
        }
        return count;
    }

    /** Removes the failed samples; later ones move up. */
    public final void dropBad() {
        int kept = 0;
        int keptValid = 0;
        for (int i = 0; i < size; i++) {
            if (!bad[i]) {
                keptValid += i < valid ? 1 : 0;
                rows[kept] = rows[i];
                positions[kept++] = positions[i];
            } else if (i < valid) {
                skippedTerms += Receipt.term(positions[i], rows[i]);
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
