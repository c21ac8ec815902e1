package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.ComputedRows;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.loader.internal.transform.TransformTarget;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.util.Objects;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** Copies and transforms rows of equal length: rows of an array, or rows that are computed once and kept. */
final class EqualRows extends SampleRows {
    /** Rows in one block, so that the block stays in the nearest cache while the processor prefetches the next rows. */
    private static final int BLOCK_BYTES = 16 << 10;

    /** Copies rows of an array or computed rows. */
    @FunctionalInterface
    private interface Copy {
        void rows(long[] rows, int first, int count, MutableDirectBuffer target, int offset);
    }

    private final @Nullable KeptSteps kept;
    private final @Nullable SampleTransform steps;
    private final boolean userCode;
    private final long seed;
    private final Dtype dtype;
    private final long[] shape;
    private final long copiedBytes;
    private final int blockRows;

    private EqualRows(
            SourceRows source, @Nullable KeptSteps kept, @Nullable SampleTransform steps, boolean userCode, long seed) {
        super(source);
        this.kept = kept;
        this.steps = steps;
        this.userCode = userCode;
        this.seed = seed;
        if (steps != null) {
            this.dtype = steps.dtype();
            this.shape = steps.rowShape();
        } else {
            this.dtype = kept == null ? source.dtype() : kept.making().dtype();
            this.shape = kept == null ? source.shape() : kept.making().shape();
        }
        this.copiedBytes = kept == null ? array().rowByteSize() : kept.rows().rowByteSize();
        this.blockRows = (int) Math.max(1, BLOCK_BYTES / Math.max(1, copiedBytes));
    }

    /** Creates a reader of an array's rows; random steps draw from the seed. */
    static EqualRows of(SourceRows array, Transform transform, long seed) {
        SampleTransform steps =
                transform.steps().isEmpty() ? null : SampleTransform.compile(transform, array.dtype(), array.shape());
        return new EqualRows(array, null, steps, transform.steps().stream().anyMatch(RowSteps::isUserCode), seed);
    }

    /** Creates a reader of kept rows that does the remaining steps. */
    static EqualRows of(KeptSteps kept, long seed) {
        return new EqualRows(kept.making().source(), kept, kept.rest(), kept.runsUserCode(), seed);
    }

    private ArrayView array() {
        return Objects.requireNonNull(source().array());
    }

    @Override
    Dtype dtype() {
        return dtype;
    }

    @Override
    long[] shape() {
        return shape.clone();
    }

    @Override
    boolean readsSource(long row) {
        return kept == null || !kept.rows().isPublished(row);
    }

    @Override
    boolean isTransforming() {
        return steps != null || kept != null;
    }

    @Override
    boolean runsUserCode() {
        return userCode;
    }

    @Override
    @Nullable
    String decoder() {
        return kept == null ? null : kept.making().decoder();
    }

    @Override
    long meanByteSize() {
        return Math.max(source().meanByteSize(), copiedBytes);
    }

    @Override
    boolean isOpen() {
        return kept == null ? source().isOpen() : kept.rows().isOpen();
    }

    @Override
    int write(HostSlot slot, long[] rows, int first, int count, SlotArray target, int item, @Nullable Object scratch) {
        Room room = Objects.requireNonNull((Room) scratch);
        if (room.computed != null) {
            computeFree(room.computed, slot, rows, first, count);
        }
        SampleTransform transform = steps;
        if (transform == null) {
            room.copy.rows(rows, first, count, target.memory(), (int) (item * copiedBytes));
            return 1;
        }
        TransformScratch own = Objects.requireNonNull(room.scratch);
        long epoch = slot.epoch;
        int end = first + count;
        for (int block = first; block < end; block += blockRows) {
            int blockEnd = Math.min(end, block + blockRows);
            room.copy.rows(rows, block, blockEnd - block, room.buffer, 0);
            int offset = 0;
            for (int i = block; i < blockEnd; i++, offset += transform.storedByteSize()) {
                transform.apply(
                        room.bytes, offset, target.output(), item + i - first, seed, epoch, slot.positions[i], own);
            }
        }
        return 1;
    }

    @Override
    void writeKept(long row, UnsafeBuffer memory, TransformTarget output, Object scratch) {
        Room room = (Room) scratch;
        room.one[0] = row;
        room.copy.rows(room.one, 0, 1, room.buffer, 0);
        Objects.requireNonNull(steps).apply(room.bytes, 0, output, 0, 0, 0, row, Objects.requireNonNull(room.scratch));
    }

    /**
     * Computes the rows of some samples. If other processes compute some of these rows, this also computes the batch's missing rows: a
     * task of long rows has only a few, and all processes would wait for the same one.
     */
    private static void computeFree(ComputedRows.Reader reader, HostSlot slot, long[] rows, int first, int count) {
        if (reader.computeFree(rows, first, count)) {
            return;
        }
        for (int i = 0; i < slot.size - count; i++) {
            slot.requireNotEnded();
            var unused = computeFree(reader, rows, (first + count + i) % slot.size);
        }
    }

    private static boolean computeFree(ComputedRows.Reader reader, long[] rows, int sample) {
        try {
            return reader.computeFree(rows, sample, 1);
        } catch (Throwable e) { // the thread that fills in that sample fails as well and can name it
            return false;
        }
    }

    @Override
    Object newScratch() {
        return new Room(this, steps == null ? null : steps.newScratch());
    }

    @Override
    Object newKeptScratch() {
        return new Room(this, Objects.requireNonNull(steps).newScratchWithoutRandom());
    }

    /** One thread's memory. */
    private static final class Room {
        final Copy copy;
        final ComputedRows.@Nullable Reader computed;
        final byte[] bytes;
        final UnsafeBuffer buffer;
        final long[] one = new long[1];
        final @Nullable TransformScratch scratch;

        Room(EqualRows rows, @Nullable TransformScratch scratch) {
            KeptSteps kept = rows.kept;
            this.computed = kept == null ? null : kept.newReader();
            this.copy = computed == null ? rows.source()::copyRows : computed::copyRows;
            this.bytes = new byte[scratch == null ? 0 : Math.toIntExact(rows.blockRows * rows.copiedBytes)];
            this.buffer = new UnsafeBuffer(bytes);
            this.scratch = scratch;
        }
    }
}
