package dev.larder.loader;

import dev.larder.error.LarderException;
import dev.larder.loader.device.HostAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Memory for one batch, filled again and again; it grows where a batch needs more than any before.
 *
 * <pre>
 *   free → planning → gathering → ready → open (in a Batch) → free
 *              └──────────┴── abandoned (its epoch ended; free when the last thread has left it)
 * </pre>
 *
 * <p>Everything but the memory and the samples is guarded by the {@link Ring}; those belong to the threads that hold a task of
 * this slot, and afterwards to the batch.
 */
final class Slot {
    /** The batch's bytes, array by array. */
    final SlotArray[] arrays;

    /** The row of the dataset that each sample is. */
    long[] rows;

    /** The place of each sample in the epoch. */
    long[] positions;

    /** The rows of a field whose rows are looked up, by the field's place; null for other fields. */
    final long[] @Nullable [] lookedUp;

    private @Nullable Plan plan;
    long batch;
    int size;

    /** The sample that is being looked up. */
    int cursor;

    /** How many samples there are that do not stand for one from the start of the epoch. */
    int valid;

    /** How many samples of the epoch all ranks together have consumed after this batch. */
    long consumed;

    /** Rows from here on are nobody's task yet. */
    int unclaimed;

    /** Threads that plan or gather. */
    int busy;

    /** Samples that could not be had and are to be left out. */
    boolean[] bad;

    int badCount;

    /** Whether the samples are known. */
    volatile boolean planned;

    boolean abandoned;

    @Nullable
    LarderException failure;

    /** Written under the ring's lock, read also by a spinning consumer. */
    volatile boolean ready;

    /** Takes memory for batches of so many samples, which is the slot's then. */
    Slot(List<FieldReader> fields, int samples, HostAllocator allocator) {
        this.rows = new long[samples];
        this.positions = new long[samples];
        this.bad = new boolean[samples];
        this.lookedUp = new long[fields.size()][];
        OutputArray[] outputs =
                fields.stream().flatMap(field -> field.outputs().stream()).toArray(OutputArray[]::new);
        this.arrays = new SlotArray[outputs.length];
        try {
            for (int i = 0; i < outputs.length; i++) {
                arrays[i] = new SlotArray(outputs[i], outputs[i].rowByteSize() * samples, allocator);
            }
        } catch (Throwable e) {
            closeMemory();
            throw e;
        }
    }

    /** Gives the memory back, in the opposite order: when no thread can use it any more. */
    void closeMemory() {
        for (int i = arrays.length - 1; i >= 0; i--) {
            if (arrays[i] != null) { // memory ran out before it
                arrays[i].owned().close();
            }
        }
    }

    /** Gives the memory of all back, in the opposite order: when no thread can use it any more. */
    static void closeMemory(List<Slot> slots) {
        for (int i = slots.size() - 1; i >= 0; i--) {
            slots.get(i).closeMemory();
        }
    }

    /** Takes the slot for a batch that is to be planned. */
    void begin(Plan newPlan, long newBatch) {
        this.plan = newPlan;
        this.batch = newBatch;
        this.size = 0;
        this.valid = 0;
        this.consumed = 0;
        this.unclaimed = 0;
        this.busy = 1;
        this.badCount = 0;
        this.planned = false;
        this.abandoned = false;
        this.failure = null;
        this.ready = false;
    }

    /** Returns the plan of the batch that the slot was last taken for. */
    Plan plan() {
        return Objects.requireNonNull(plan);
    }

    /** Makes room for so many samples. */
    void resize(int samples) {
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
    long[] lookedUp(int field) {
        long[] room = lookedUp[field];
        if (room == null || room.length < size) {
            room = new long[rows.length];
            lookedUp[field] = room;
        }
        return room;
    }

    boolean hasUnclaimedRows() {
        return planned && !abandoned && unclaimed < size;
    }

    /** Leaves out the samples that could not be had; those after them move up. */
    void dropBad() {
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
}
