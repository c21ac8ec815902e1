package dev.larder.distributed;

import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/** Combines floats, and types that are converted to floats. */
class FloatAccumulator extends Accumulator {
    private static final long START = RawMemory.arrayOffset(float[].class);

    private final float[] values;
    private final float[] others;
    private int count;

    FloatAccumulator() {
        this(BLOCK_BYTE_SIZE / Float.BYTES);
    }

    FloatAccumulator(int capacity) {
        this.values = new float[capacity];
        this.others = new float[capacity];
    }

    /** Reads elements, and returns their number. */
    int read(@Nullable Object array, long position, int byteSize, float[] target) {
        RawMemory.copy(array, position, target, START, byteSize);
        return byteSize / Float.BYTES;
    }

    void write(@Nullable Object array, long position, int byteSize, float[] source) {
        RawMemory.copy(source, START, array, position, byteSize);
    }

    @Override
    final void load(@Nullable Object array, long position, int byteSize) {
        count = read(array, position, byteSize, values);
    }

    @Override
    final void combine(ReduceOp op, @Nullable Object array, long position, int byteSize) {
        read(array, position, byteSize, others);
        switch (op) {
            case SUM, AVG -> add(values, others, count);
            case PROD -> multiply(values, others, count);
            case MIN -> min(values, others, count);
            case MAX -> max(values, others, count);
        }
    }

    private static void add(float[] values, float[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] += others[i];
        }
    }

    private static void multiply(float[] values, float[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] *= others[i];
        }
    }

    private static void min(float[] values, float[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = Math.min(values[i], others[i]);
        }
    }

    private static void max(float[] values, float[] others, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = Math.max(values[i], others[i]);
        }
    }

    @Override
    final void average(int ranks) {
        for (int i = 0; i < count; i++) {
            values[i] /= ranks;
        }
    }

    @Override
    final void store(@Nullable Object array, long position, int byteSize) {
        write(array, position, byteSize, values);
    }
}
