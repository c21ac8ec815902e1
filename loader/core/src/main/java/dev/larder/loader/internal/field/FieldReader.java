package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads one field of the samples of a batch into a slot: first prepares what depends on the whole batch, then fills in samples,
 * by several threads at once. Keeps no state of its own.
 */
public abstract class FieldReader {
    private final String column;
    private final List<OutputArray> outputs;
    private final @Nullable RowLookup lookup;
    private final int field;
    private final int firstArray;

    /** Where a field stands among the others. */
    record Place(int field, int firstArray) {}

    FieldReader(String column, List<OutputArray> outputs, @Nullable RowLookup lookup, Place place) {
        this.column = column;
        this.outputs = outputs;
        this.lookup = lookup;
        this.field = place.field();
        this.firstArray = place.firstArray();
    }

    /** Returns the name of the array or column that is read. */
    public final String column() {
        return column;
    }

    /** Returns the arrays that each batch gets from this field. */
    public final List<OutputArray> outputs() {
        return outputs;
    }

    /** Returns which of the fields this is. */
    public final int field() {
        return field;
    }

    /** Returns which of the slot's arrays is the first of this field. */
    public final int firstArray() {
        return firstArray;
    }

    /** Returns whether the rows of every batch are of one length, and as many as its samples. */
    public boolean hasEqualRows() {
        return true;
    }

    /** Returns whether what is read is also changed. */
    public boolean isTransforming() {
        return false;
    }

    /** Returns whether code of the user changes what is read. */
    public boolean runsUserCode() {
        return false;
    }

    /** Returns what decodes the images of this field, and a fingerprint of how; nothing where there are none. */
    public @Nullable String decoder() {
        return null;
    }

    /** Returns the row of a sample, counted in its dataset. */
    final long rowInDataset(HostSlot slot, int sample) {
        long row = slot.rows[sample];
        return lookup == null ? row : lookup.findInDataset(row, slot.epoch, slot.positions[sample]);
    }

    /** Returns how many bytes of one sample are read, about. */
    abstract long sampleByteSize();

    /** Tells whether what is read is still mapped. */
    public abstract boolean isOpen();

    /** Looks up rows and makes room for all samples of the batch. One thread does this, before any fills in. */
    public final void prepare(HostSlot slot) {
        if (lookup != null) {
            lookup.find(slot, slot.lookedUp(field));
        }
        prepareRows(slot, rows(slot));
    }

    abstract void prepareRows(HostSlot slot, long[] rows);

    /** Fails if a sample has no row in this field, or one that does not fit. */
    public final void check(HostSlot slot, int sample) {
        long row = slot.rows[sample];
        checkRow(lookup == null ? row : lookup.find(row, slot.epoch, slot.positions[sample]));
    }

    /** Fails if a row does not fit. */
    void checkRow(long row) {}

    /** Fills in the samples {@code first} to {@code first + count - 1}. */
    public abstract void fill(HostSlot slot, int first, int count, @Nullable Object scratch);

    /** Returns what a thread needs to fill in samples. */
    public @Nullable Object newScratch() {
        return null;
    }

    /** Returns the row of this field for each sample. */
    final long[] rows(HostSlot slot) {
        long[] found = lookup == null ? null : slot.lookedUp[field];
        return found == null ? slot.rows : found;
    }

    /** Returns an array of the slot by its place among those of this field. */
    final SlotArray array(HostSlot slot, int place) {
        return slot.arrays[firstArray + place];
    }
}
