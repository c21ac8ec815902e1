package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.transform.TransformTarget;
import dev.larder.npy.Dtype;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of one column of one dataset, and does the steps of a field on the way into a slot. Threads may share it, each with
 * scratch memory of its own.
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

    /** Returns the type of the elements that batches have. */
    abstract Dtype dtype();

    /** Returns the shape of a row in batches; of one item if rows are ragged. */
    abstract long[] shape();

    /** Returns the array of batches that has such rows, or such items. */
    final OutputArray output(String name) {
        return new OutputArray(name, dtype(), shape());
    }

    /** Returns whether rows differ in their first dimension. */
    boolean isRagged() {
        return false;
    }

    /** Returns how many items a ragged row has, if its length is known before it is written; fails for a row unlike the others. */
    long length(long row) {
        return 1;
    }

    /** Returns the most items of rows whose lengths are known only after they are written; 0 if lengths are known before. */
    int mostItems() {
        return 0;
    }

    /**
     * Writes the rows of {@code count} samples, of ragged rows only one. Returns how many items the row has if {@link #mostItems} is not 0.
     *
     * @param rows the row of each sample of the slot
     * @param item the start of the first row in the target, in rows, or in items if rows are ragged
     */
    abstract int write(
            HostSlot slot, long[] rows, int first, int count, SlotArray target, int item, @Nullable Object scratch);

    /** Writes one row of equal length whose steps draw no random numbers. Takes the memory of {@link #newKeptScratch}. */
    void writeKept(long row, UnsafeBuffer memory, TransformTarget output, Object scratch) {
        throw new IllegalStateException("rows differ in length: column=" + column());
    }

    /** Returns whether steps change the rows. */
    boolean isTransforming() {
        return true;
    }

    /** Returns whether code of the user changes the rows. */
    boolean runsUserCode() {
        return false;
    }

    /** Returns the decoder of images and a fingerprint of its results, or null if there are no images. */
    @Nullable
    String decoder() {
        return null;
    }

    /** Returns how many bytes of a row are read, about. */
    long meanByteSize() {
        return source.meanByteSize();
    }

    boolean isOpen() {
        return source.isOpen();
    }

    /** Returns the memory that a thread needs to write rows. */
    @Nullable
    abstract Object newScratch();

    /** Returns the memory that a thread needs for {@link #writeKept}: with it, a function that draws fails. */
    Object newKeptScratch() {
        throw new IllegalStateException("rows differ in length: column=" + column());
    }
}
