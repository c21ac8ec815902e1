package dev.larder.distributed;

import dev.larder.internal.number.Bfloat16;
import dev.larder.internal.number.Half;
import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/** Combines IEEE binary16 or bfloat16 as floats. */
final class HalfAccumulator extends FloatAccumulator {
    private static final long START = RawMemory.arrayOffset(short[].class);

    private final boolean isBfloat;
    private final short[] halves = new short[BLOCK_BYTE_SIZE / Short.BYTES];

    HalfAccumulator(boolean isBfloat) {
        super(BLOCK_BYTE_SIZE / Short.BYTES);
        this.isBfloat = isBfloat;
    }

    @Override
    int read(@Nullable Object array, long position, int byteSize, float[] target) {
        RawMemory.copy(array, position, halves, START, byteSize);
        int count = byteSize / Short.BYTES;
        if (isBfloat) {
            for (int i = 0; i < count; i++) {
                target[i] = Bfloat16.toFloat(halves[i]);
            }
        } else {
            for (int i = 0; i < count; i++) {
                target[i] = Half.toFloat(halves[i]);
            }
        }
        return count;
    }

    @Override
    void write(@Nullable Object array, long position, int byteSize, float[] source) {
        int count = byteSize / Short.BYTES;
        if (isBfloat) {
            for (int i = 0; i < count; i++) {
                halves[i] = (short) Bfloat16.ofFloat(source[i]);
            }
        } else {
            for (int i = 0; i < count; i++) {
                halves[i] = (short) Half.ofFloat(source[i]);
            }
        }
        RawMemory.copy(halves, START, array, position, byteSize);
    }
}
