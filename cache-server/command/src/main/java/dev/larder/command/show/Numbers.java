package dev.larder.command.show;

import dev.larder.internal.number.Half;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.math.BigDecimal;
import java.nio.ByteBuffer;

/** Reads elements that are numbers. */
final class Numbers {
    private static final int HALF_BYTES = 2;
    private static final int EXTENDED_BYTES = 16;
    private static final int EXTENDED_BIAS = 16383 + 63;
    private static final int EXTENDED_TOP = 0x7fff;

    private Numbers() {}

    /** Returns whether elements of this type are single numbers: booleans, integers and floats. */
    static boolean isNumber(Dtype dtype) {
        return dtype.kind() == Kind.BOOL || isInteger(dtype) || dtype.kind() == Kind.FLOAT;
    }

    static boolean isInteger(Dtype dtype) {
        return dtype.kind() == Kind.INT || dtype.kind() == Kind.UINT;
    }

    /** Returns an element as a double, rounded if it has more digits. The buffer's byte order does not matter. */
    static double at(Dtype dtype, ByteBuffer bytes, int position) {
        if (dtype.kind() == Kind.FLOAT) {
            return floatAt(dtype.itemSize(), bytes.order(dtype.byteOrder()), position);
        }
        long value = integerAt(dtype, bytes, position);
        boolean isAboveLong = value < 0 && dtype.kind() == Kind.UINT;
        return isAboveLong ? (double) ((value >>> 1) | (value & 1)) * 2 : value;
    }

    /** Reads consecutive elements, faster than one by one; values beyond {@code count} do not change. */
    static void read(Dtype dtype, ByteBuffer bytes, int first, double[] values, int count) {
        bytes.order(dtype.byteOrder());
        if (dtype.kind() == Kind.FLOAT && dtype.itemSize() == Float.BYTES) {
            float[] floats = new float[count];
            bytes.asFloatBuffer().get(first, floats);
            for (int i = 0; i < count; i++) {
                values[i] = floats[i];
            }
        } else if (dtype.kind() == Kind.FLOAT && dtype.itemSize() == Double.BYTES) {
            bytes.asDoubleBuffer().get(first, values, 0, count);
        } else {
            for (int i = 0; i < count; i++) {
                values[i] = at(dtype, bytes, (first + i) * dtype.itemSize());
            }
        }
    }

    /** Returns a float of 2, 4, 8 or 16 bytes; the last is x86's extended format, rounded to a double. */
    static double floatAt(int itemSize, ByteBuffer bytes, int position) {
        return switch (itemSize) {
            case HALF_BYTES -> Half.toFloat(bytes.getShort(position));
            case Float.BYTES -> bytes.getFloat(position);
            case EXTENDED_BYTES -> extended(bytes, position);
            default -> bytes.getDouble(position);
        };
    }

    /** Returns an integer, boolean or date; a uint64 above {@code Long.MAX_VALUE} is negative. */
    static long integerAt(Dtype dtype, ByteBuffer bytes, int position) {
        bytes.order(dtype.byteOrder());
        boolean unsigned = dtype.kind() == Kind.UINT;
        return switch (dtype.itemSize()) {
            case Byte.BYTES ->
                dtype.kind() == Kind.BOOL
                        ? bytes.get(position) == 0 ? 0 : 1
                        : unsigned ? bytes.get(position) & 0xff : bytes.get(position);
            case Short.BYTES -> unsigned ? bytes.getShort(position) & 0xffff : bytes.getShort(position);
            case Integer.BYTES -> unsigned ? Integer.toUnsignedLong(bytes.getInt(position)) : bytes.getInt(position);
            default -> bytes.getLong(position);
        };
    }

    /** Reads x86's 80-bit extended format: 64 bits of significand with its leading one, 15 of exponent, a sign. */
    private static double extended(ByteBuffer bytes, int position) {
        boolean bigEndian = bytes.order() == java.nio.ByteOrder.BIG_ENDIAN;
        long significand = bytes.getLong(bigEndian ? position + 8 : position);
        int top = bytes.getShort(bigEndian ? position + 6 : position + 8);
        int exponent = top & EXTENDED_TOP;
        double magnitude;
        if (exponent == EXTENDED_TOP) {
            magnitude = significand << 1 == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
        } else {
            int scale = Math.max(1, exponent) - EXTENDED_BIAS;
            magnitude = scaled(significand, scale);
        }
        return top < 0 ? -magnitude : magnitude;
    }

    private static double scaled(long significand, int scale) {
        if (scale < -1200 || scale > 1024) {
            return scale > 0 && significand != 0 ? Double.POSITIVE_INFINITY : 0;
        }
        BigDecimal whole = new BigDecimal(Long.toUnsignedString(significand));
        BigDecimal power = BigDecimal.valueOf(2).pow(Math.abs(scale));
        return (scale >= 0 ? whole.multiply(power) : whole.divide(power)).doubleValue();
    }
}
