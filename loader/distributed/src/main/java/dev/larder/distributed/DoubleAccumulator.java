package dev.larder.distributed;

import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/** Combines doubles. */
final class DoubleAccumulator extends Accumulator {
    private static final long START = RawMemory.arrayOffset(double[].class);

    private final double[] values = new double[BLOCK_BYTE_SIZE / Double.BYTES];
    private final double[] others = new double[BLOCK_BYTE_SIZE / Double.BYTES];
    private int count;

    @Override
    void load(@Nullable Object array, long position, int byteSize) {
        RawMemory.copy(array, position, values, START, byteSize);
        count = byteSize / Double.BYTES;
    }

    @Override
    void combine(ReduceOp op, @Nullable Object array, long position, int byteSize) {
        RawMemory.copy(array, position, others, START, byteSize);
        switch (op) {
            case SUM, AVG -> add(values, others, count);
            case PROD -> multiply(values, others, count);
            case MIN -> min(values, others, count);
            case MAX -> max(values, others, count);
        }
    }

    private static void add(double[] values, double[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] += others[i];
        }
    }

    private static void multiply(double[] values, double[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] *= others[i];
        }
    }

    private static void min(double[] values, double[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = Math.min(values[i], others[i]);
        }
    }

    private static void max(double[] values, double[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = Math.max(values[i], others[i]);
        }
    }

    @Override
    void average(int ranks) {
        for (int i = 0; i < count; i++) {
            values[i] /= ranks;
        }
    }

    @Override
    void store(@Nullable Object array, long position, int byteSize) {
        RawMemory.copy(values, START, array, position, byteSize);
    }
}
