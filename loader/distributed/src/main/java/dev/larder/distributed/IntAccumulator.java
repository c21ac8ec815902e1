package dev.larder.distributed;

import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/** Combines ints. */
final class IntAccumulator extends Accumulator {
    private static final long START = RawMemory.arrayOffset(int[].class);

    private final int[] values = new int[BLOCK_BYTE_SIZE / Integer.BYTES];
    private final int[] others = new int[BLOCK_BYTE_SIZE / Integer.BYTES];

    @Override
    void load(@Nullable Object array, long position, int byteSize) {
        RawMemory.copy(array, position, values, START, byteSize);
    }

    @Override
    void combine(ReduceOp op, @Nullable Object array, long position, int byteSize) {
        RawMemory.copy(array, position, others, START, byteSize);
        int count = byteSize / Integer.BYTES;
        switch (op) {
            case SUM, AVG -> add(values, others, count);
            case PROD -> multiply(values, others, count);
            case MIN -> min(values, others, count);
            case MAX -> max(values, others, count);
        }
    }

    private static void add(int[] values, int[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] += others[i];
        }
    }

    private static void multiply(int[] values, int[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] *= others[i];
        }
    }

    private static void min(int[] values, int[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = Math.min(values[i], others[i]);
        }
    }

    private static void max(int[] values, int[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = Math.max(values[i], others[i]);
        }
    }

    @Override
    void average(int ranks) {
        throw new IllegalStateException("no average of integers");
    }

    @Override
    void store(@Nullable Object array, long position, int byteSize) {
        RawMemory.copy(values, START, array, position, byteSize);
    }
}
