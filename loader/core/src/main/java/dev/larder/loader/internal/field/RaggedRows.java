package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** Copies rows that differ only in their first dimension, and transforms their elements. */
final class RaggedRows extends SampleRows {
    private final @Nullable SampleTransform steps;
    private final int storedItemBytes;
    private final int itemBytes;

    private RaggedRows(SourceRows source, @Nullable SampleTransform steps) {
        super(source);
        this.steps = steps;
        this.storedItemBytes = itemBytes(source, source.dtype());
        this.itemBytes = itemBytes(source, dtype());
    }

    private static int itemBytes(SourceRows source, Dtype dtype) {
        return Math.toIntExact(new OutputArray(source.column(), dtype, source.shape()).rowByteSize());
    }

    static RaggedRows of(SourceRows source, Transform transform) {
        return new RaggedRows(
                source,
                transform.steps().isEmpty() ? null : SampleTransform.compileElements(transform, source.dtype()));
    }

    @Override
    Dtype dtype() {
        return steps == null ? source().dtype() : steps.dtype();
    }

    @Override
    long[] shape() {
        return source().shape();
    }

    @Override
    boolean isRagged() {
        return true;
    }

    @Override
    boolean isTransforming() {
        return steps != null;
    }

    @Override
    long length(long row) {
        return source().length(row);
    }

    @Override
    int write(HostSlot slot, long[] rows, int first, int count, SlotArray target, int item, @Nullable Object scratch) {
        Room room = Objects.requireNonNull((Room) scratch);
        long row = rows[first];
        int items = (int) source().length(row);
        int stored = Math.multiplyExact(items, storedItemBytes);
        DirectBuffer bytes = source().read(row, room.window);
        if (steps == null) {
            bytes.getBytes(0, target.memory(), item * itemBytes, stored);
        } else if (stored > 0) {
            room.reserve(stored);
            bytes.getBytes(0, room.buffer, 0, stored);
            int perItem = itemBytes / steps.rowByteSize();
            steps.applyElements(
                    room.bytes,
                    0,
                    stored / steps.storedByteSize(),
                    target.output(),
                    item * perItem,
                    Objects.requireNonNull(room.scratch));
        }
        return items;
    }

    @Override
    Object newScratch() {
        return new Room(steps == null ? null : steps.newScratch());
    }

    /** One thread's memory. It grows to the longest row so far. */
    private static final class Room {
        final SourceRows.Window window = new SourceRows.Window();
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[0]);
        final @Nullable TransformScratch scratch;
        byte[] bytes = new byte[0];

        Room(@Nullable TransformScratch scratch) {
            this.scratch = scratch;
        }

        void reserve(int length) {
            if (bytes.length < length) {
                bytes = new byte[(int) Math.min(Integer.MAX_VALUE - 8L, length + length / 4L)];
                buffer.wrap(bytes);
            }
        }
    }
}
