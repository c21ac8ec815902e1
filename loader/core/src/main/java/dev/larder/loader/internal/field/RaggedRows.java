package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.util.Objects;
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
        this.storedItemBytes = Math.toIntExact(source.itemByteSize());
        this.itemBytes = Math.toIntExact(output(column()).rowByteSize());
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
        long row = rows[first];
        if (steps == null) {
            source().copy(row, target.memory(), item * itemBytes);
            return 0;
        }
        Room room = Objects.requireNonNull((Room) scratch);
        int stored = Math.toIntExact(source().length(row) * storedItemBytes);
        if (stored > 0) {
            room.reserve(stored);
            source().copy(row, room.buffer, 0);
            int perItem = itemBytes / steps.rowByteSize();
            steps.applyElements(
                    room.bytes, 0, stored / steps.storedByteSize(), target.output(), item * perItem, room.scratch);
        }
        return 0;
    }

    @Override
    @Nullable
    Object newScratch() {
        return steps == null ? null : new Room(steps.newScratch());
    }

    /** One thread's memory. It grows to the longest row so far. */
    private static final class Room {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[0]);
        final TransformScratch scratch;
        byte[] bytes = new byte[0];

        Room(TransformScratch scratch) {
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
