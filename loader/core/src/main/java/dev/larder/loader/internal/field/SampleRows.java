package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.transform.TransformTarget;
import dev.larder.npy.Dtype;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of one column of one dataset into a slot and does the steps of a field. Threads may share it, each with
 * separate scratch memory.
 */
abstract class SampleRows {
    private final SourceRows source;

    SampleRows(SourceRows source) {
        this.source = source;
    }

    final SourceRows source() {
        return source;
    }

    final String column() {
        return source.column();
    }

    /** Returns the element type in batches. */
    abstract Dtype dtype();

    /** Returns the shape of a row in batches, or of one item if rows are ragged. */
    abstract long[] shape();

    /** Returns the batch array for these rows, or for their items if they are ragged. */
    final OutputArray output(String name) {
        return new OutputArray(name, dtype(), shape());
    }

    /** Returns whether rows differ in their first dimension. */
    boolean isRagged() {
        return false;
    }

    /** Returns the number of items in a ragged row if it is known in advance. Fails if the row's shape does not match the others. */
    long length(long row) {
        return 1;
    }

    /** Returns the maximum number of items in a row if lengths are known only after writing; 0 if they are known in advance. */
    int mostItems() {
        return 0;
    }

    /**
     * Writes the rows of {@code count} samples (only one if rows are ragged) and returns the number of items in the last row.
     *
     * @param rows the row of each sample of the slot
     * @param item the start of the first row in the target, in rows, or in items if rows are ragged
     */
    abstract int write(
            HostSlot slot, long[] rows, int first, int count, SlotArray target, int item, @Nullable Object scratch);

    /** Writes one row of equal length without random steps. Requires scratch memory from {@link #newKeptScratch}. */
    void writeKept(long row, UnsafeBuffer memory, TransformTarget output, Object scratch) {
        throw new IllegalStateException("rows differ in length: column=" + column());
    }

    /** Returns whether a row is made from one of the source, and no kept result replaces it. */
    boolean readsSource(long row) {
        return true;
    }

    /** Returns whether steps change the rows. */
    boolean isTransforming() {
        return true;
    }

    /** Returns whether user code changes the rows. */
    boolean runsUserCode() {
        return false;
    }

    /** Returns the decoder of images and a fingerprint of its results, or null if there are no images. */
    @Nullable
    String decoder() {
        return null;
    }

    /** Returns the approximate number of bytes read for one row. */
    long meanByteSize() {
        return source.meanByteSize();
    }

    boolean isOpen() {
        return source.isOpen();
    }

    /** Returns the memory that a thread needs to write rows. */
    @Nullable
    abstract Object newScratch();

    /** Returns the memory that a thread needs for {@link #writeKept}. With it, functions that draw random numbers fail. */
    Object newKeptScratch() {
        throw new IllegalStateException("rows differ in length: column=" + column());
    }
}
