package dev.larder.distributed;

import dev.larder.internal.number.Bfloat16;
import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/** The upper halves of floats. */
final class BfloatAccumulator extends FloatAccumulator {
    private static final long START = RawMemory.arrayOffset(short[].class);

    private final short[] halves = new short[BLOCK_BYTE_SIZE / Short.BYTES];

    BfloatAccumulator() {
        super(BLOCK_BYTE_SIZE / Short.BYTES);
    }

    @Override
    int read(@Nullable Object array, long position, int byteSize, float[] target) {
        RawMemory.copy(array, position, halves, START, byteSize);
        int count = byteSize / Short.BYTES;
        for (int i = 0; i < count; i++) {
            target[i] = Bfloat16.toFloat(halves[i]);
        }
        return count;
    }

    @Override
    void write(@Nullable Object array, long position, int byteSize, float[] source) {
        int count = byteSize / Short.BYTES;
        for (int i = 0; i < count; i++) {
            halves[i] = (short) Bfloat16.ofFloat(source[i]);
        }
        RawMemory.copy(halves, START, array, position, byteSize);
    }
}
