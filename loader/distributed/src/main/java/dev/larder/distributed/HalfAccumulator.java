package dev.larder.distributed;

import dev.larder.internal.number.Half;
import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/** IEEE binary16. */
final class HalfAccumulator extends FloatAccumulator {
    private static final long START = RawMemory.arrayOffset(short[].class);

    private final short[] halves = new short[BLOCK_BYTE_SIZE / Short.BYTES];

    HalfAccumulator() {
        super(BLOCK_BYTE_SIZE / Short.BYTES);
    }

    @Override
    int read(@Nullable Object array, long position, int byteSize, float[] target) {
        RawMemory.copy(array, position, halves, START, byteSize);
        int count = byteSize / Short.BYTES;
        for (int i = 0; i < count; i++) {
            target[i] = Half.toFloat(halves[i]);
        }
        return count;
    }

    @Override
    void write(@Nullable Object array, long position, int byteSize, float[] source) {
        int count = byteSize / Short.BYTES;
        for (int i = 0; i < count; i++) {
            halves[i] = (short) Half.ofFloat(source[i]);
        }
        RawMemory.copy(halves, START, array, position, byteSize);
    }
}
