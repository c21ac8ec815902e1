package dev.larder.loader.internal.transform;

import dev.larder.internal.number.Half;
import dev.larder.internal.posix.RawMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** A block of elements that the steps decode, compute and encode. Each thread has its own. */
final class NumberBlock {
    static final int LENGTH = 1024;

    private static final VarHandle SHORT = view(short[].class);
    private static final VarHandle INT = view(int[].class);
    private static final VarHandle LONG = view(long[].class);
    private static final long FLOATS_OFFSET = RawMemory.arrayOffset(float[].class);

    /** The values, in the array of the type's domain. */
    final long[] longs = new long[LENGTH];

    final float[] floats = new float[LENGTH];
    final double[] doubles = new double[LENGTH];

    private static VarHandle view(Class<?> array) {
        return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.nativeOrder());
    }

    /** Reads stored elements. */
    void decode(Encoding encoding, byte[] stored, int at, int count) {
        NumberType type = encoding.type();
        boolean swapped = encoding.swapped();
        switch (type) {
            case FLOAT16 -> decodeHalves(swapped, stored, at, count);
            case FLOAT32 -> decodeFloats(swapped, stored, at, count);
            case FLOAT64 -> decodeDoubles(swapped, stored, at, count);
            case INT8 -> decodeBytes(-1L, stored, at, count);
            case UINT8 -> decodeBytes(0xff, stored, at, count);
            case BOOL -> decodeTruths(stored, at, count);
            case INT16, UINT16 -> decodeShorts(type, swapped, stored, at, count);
            case INT32, UINT32 -> decodeInts(type, swapped, stored, at, count);
            case INT64, UINT64 -> decodeLongs(swapped, stored, at, count);
        }
    }

    private void decodeBytes(long mask, byte[] stored, int at, int count) {
        for (int i = 0; i < count; i++) {
            longs[i] = stored[at + i] & mask;
        }
    }

    private void decodeTruths(byte[] stored, int at, int count) {
        for (int i = 0; i < count; i++) {
            longs[i] = stored[at + i] == 0 ? 0 : 1;
        }
    }

    private void decodeShorts(NumberType type, boolean swapped, byte[] stored, int at, int count) {
        long mask = type == NumberType.UINT16 ? 0xffff : -1L;
        for (int i = 0; i < count; i++) {
            short bits = (short) SHORT.get(stored, at + 2 * i);
            longs[i] = (swapped ? Short.reverseBytes(bits) : bits) & mask;
        }
    }

    private void decodeInts(NumberType type, boolean swapped, byte[] stored, int at, int count) {
        long mask = type == NumberType.UINT32 ? 0xffff_ffffL : -1L;
        for (int i = 0; i < count; i++) {
            int bits = (int) INT.get(stored, at + 4 * i);
            longs[i] = (swapped ? Integer.reverseBytes(bits) : bits) & mask;
        }
    }

    private void decodeLongs(boolean swapped, byte[] stored, int at, int count) {
        for (int i = 0; i < count; i++) {
            long bits = (long) LONG.get(stored, at + 8 * i);
            longs[i] = swapped ? Long.reverseBytes(bits) : bits;
        }
    }

    private void decodeHalves(boolean swapped, byte[] stored, int at, int count) {
        for (int i = 0; i < count; i++) {
            short bits = (short) SHORT.get(stored, at + 2 * i);
            floats[i] = Half.toFloat(swapped ? Short.reverseBytes(bits) : bits);
        }
    }

    private void decodeFloats(boolean swapped, byte[] stored, int at, int count) {
        if (!swapped) {
            RawMemory.copy(stored, TransformTarget.BYTES_OFFSET + at, floats, FLOATS_OFFSET, 4L * count);
            return;
        }
        for (int i = 0; i < count; i++) {
            floats[i] = Float.intBitsToFloat(Integer.reverseBytes((int) INT.get(stored, at + 4 * i)));
        }
    }

    private void decodeDoubles(boolean swapped, byte[] stored, int at, int count) {
        for (int i = 0; i < count; i++) {
            long bits = (long) LONG.get(stored, at + 8 * i);
            doubles[i] = Double.longBitsToDouble(swapped ? Long.reverseBytes(bits) : bits);
        }
    }

    /** Converts values to another type, in the array of its domain. */
    void convert(NumberType from, NumberType to, int count) {
        switch (to.domain()) {
            case LONG -> toIntegers(from, to, count);
            case FLOAT -> toFloats(from, to, count);
            case DOUBLE -> toDoubles(from, count);
        }
    }

    private void toIntegers(NumberType from, NumberType to, int count) {
        switch (from.domain()) {
            case LONG -> {
                for (int i = 0; i < count; i++) {
                    longs[i] = to.wrap(longs[i]);
                }
            }
            case FLOAT -> {
                for (int i = 0; i < count; i++) {
                    longs[i] = to.saturate(floats[i]);
                }
            }
            case DOUBLE -> {
                for (int i = 0; i < count; i++) {
                    longs[i] = to.saturate(doubles[i]);
                }
            }
        }
    }

    private void toFloats(NumberType from, NumberType to, int count) {
        boolean halves = to == NumberType.FLOAT16;
        switch (from.domain()) {
            case LONG -> {
                for (int i = 0; i < count; i++) {
                    floats[i] = from.toFloat(longs[i]);
                }
            }
            case FLOAT -> {}
            case DOUBLE -> {
                for (int i = 0; i < count; i++) {
                    floats[i] = halves ? Half.toFloat(Half.ofDouble(doubles[i])) : (float) doubles[i];
                }
            }
        }
        if (halves && from != NumberType.FLOAT16 && from != NumberType.FLOAT64) {
            for (int i = 0; i < count; i++) {
                floats[i] = Half.toFloat(Half.ofFloat(floats[i]));
            }
        }
    }

    private void toDoubles(NumberType from, int count) {
        switch (from.domain()) {
            case LONG -> {
                for (int i = 0; i < count; i++) {
                    doubles[i] = from.toDouble(longs[i]);
                }
            }
            case FLOAT -> {
                for (int i = 0; i < count; i++) {
                    doubles[i] = floats[i];
                }
            }
            case DOUBLE -> {}
        }
    }

    /** Writes elements of a type. */
    void encode(Encoding encoding, int count, @Nullable Object target, long offset) {
        boolean swapped = encoding.swapped();
        switch (encoding.type()) {
            case FLOAT16 -> encodeHalves(swapped, count, target, offset);
            case FLOAT32 -> encodeFloats(swapped, count, target, offset);
            case FLOAT64 -> encodeDoubles(swapped, count, target, offset);
            case BOOL, INT8, UINT8 -> encodeBytes(count, target, offset);
            case INT16, UINT16 -> encodeShorts(swapped, count, target, offset);
            case INT32, UINT32 -> encodeInts(swapped, count, target, offset);
            case INT64, UINT64 -> encodeLongs(swapped, count, target, offset);
        }
    }

    private void encodeBytes(int count, @Nullable Object target, long offset) {
        for (int i = 0; i < count; i++) {
            RawMemory.putByte(target, offset + i, (byte) longs[i]);
        }
    }

    private void encodeShorts(boolean swapped, int count, @Nullable Object target, long offset) {
        for (int i = 0; i < count; i++) {
            short bits = (short) longs[i];
            RawMemory.putShort(target, offset + 2L * i, swapped ? Short.reverseBytes(bits) : bits);
        }
    }

    private void encodeInts(boolean swapped, int count, @Nullable Object target, long offset) {
        for (int i = 0; i < count; i++) {
            int bits = (int) longs[i];
            RawMemory.putInt(target, offset + 4L * i, swapped ? Integer.reverseBytes(bits) : bits);
        }
    }

    private void encodeLongs(boolean swapped, int count, @Nullable Object target, long offset) {
        for (int i = 0; i < count; i++) {
            RawMemory.putLong(target, offset + 8L * i, swapped ? Long.reverseBytes(longs[i]) : longs[i]);
        }
    }

    private void encodeHalves(boolean swapped, int count, @Nullable Object target, long offset) {
        for (int i = 0; i < count; i++) {
            short bits = (short) Half.ofFloat(floats[i]);
            RawMemory.putShort(target, offset + 2L * i, swapped ? Short.reverseBytes(bits) : bits);
        }
    }

    private void encodeFloats(boolean swapped, int count, @Nullable Object target, long offset) {
        if (!swapped) {
            RawMemory.copy(floats, FLOATS_OFFSET, target, offset, 4L * count);
            return;
        }
        for (int i = 0; i < count; i++) {
            RawMemory.putInt(target, offset + 4L * i, Integer.reverseBytes(Float.floatToRawIntBits(floats[i])));
        }
    }

    private void encodeDoubles(boolean swapped, int count, @Nullable Object target, long offset) {
        for (int i = 0; i < count; i++) {
            long bits = Double.doubleToRawLongBits(doubles[i]);
            RawMemory.putLong(target, offset + 8L * i, swapped ? Long.reverseBytes(bits) : bits);
        }
    }
}
