package dev.larder.loader.internal.transform;

import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/**
 * The operation of one or more numeric steps on single elements, which keep their positions in the sample.
 *
 * <p>The target is an array and an offset as {@link RawMemory} counts them.
 */
sealed interface ElementOperation {
    /** Changes {@code count} elements, all of a sample if channels matter. */
    void run(byte[] stored, int at, int count, @Nullable Object target, long offset, NumberBlock block);

    /** Leaves bytes as they are. */
    record Same(int itemSize) implements ElementOperation {
        @Override
        public void run(byte[] stored, int at, int count, @Nullable Object target, long offset, NumberBlock block) {
            RawMemory.copy(stored, TransformTarget.BYTES_OFFSET + at, target, offset, (long) count * itemSize);
        }
    }

    /** Computes each of them. */
    record Computed(Arithmetic arithmetic) implements ElementOperation {
        @Override
        public void run(byte[] stored, int at, int count, @Nullable Object target, long offset, NumberBlock block) {
            arithmetic.run(stored, at, count, target, offset, block);
        }
    }

    /** Looks each of them up, as {@code arithmetic} would compute them. */
    record LookedUp(ByteTable table, Arithmetic arithmetic) implements ElementOperation {
        @Override
        public void run(byte[] stored, int at, int count, @Nullable Object target, long offset, NumberBlock block) {
            table.run(stored, at, count, target, offset);
        }
    }
}
