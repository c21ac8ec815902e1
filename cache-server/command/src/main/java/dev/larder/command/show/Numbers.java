package dev.larder.command.show;

import dev.larder.internal.number.Half;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads elements that are numbers. */
final class Numbers {
    private static final int EXTENDED_BIAS = 16383 + 63;
    private static final int EXTENDED_TOP = 0x7fff;

    private Numbers() {}

    /** Returns whether elements of this type are single numbers: booleans, integers and floats. */
    static boolean isNumber(Dtype dtype) {
        return switch (dtype.kind()) {
            case BOOL, INT, UINT, FLOAT -> true;
            default -> false;
        };
    }

    /** Returns an element as a double, rounded if it has more digits. The buffer's byte order does not matter. */
    static double at(Dtype dtype, ByteBuffer bytes, int position) {
        if (dtype.kind() != Kind.FLOAT) {
            return asDouble(integerAt(dtype, bytes, position), dtype);
        }
        bytes.order(dtype.byteOrder());
        return switch (dtype.itemSize()) {
            case Short.BYTES -> Half.toFloat(bytes.getShort(position));
            case Float.BYTES -> bytes.getFloat(position);
            case Double.BYTES -> bytes.getDouble(position);
            default -> extended(bytes, position);
        };
    }

    private static double asDouble(long value, Dtype dtype) {
        boolean isAboveLong = value < 0 && dtype.kind() == Kind.UINT;
        return isAboveLong ? (double) ((value >>> 1) | (value & 1)) * 2 : value;
    }

    /** Reads consecutive elements into a block, as many as its length. */
    static void read(Dtype dtype, ByteBuffer bytes, int first, Elements.Block block) {
        for (int i = 0; i < block.length; i++) {
            int position = (first + i) * dtype.itemSize();
            if (dtype.kind() == Kind.FLOAT) {
                block.values[i] = at(dtype, bytes, position);
            } else {
                long value = integerAt(dtype, bytes, position);
                block.integers[i] = dtype.kind() == Kind.UINT ? value ^ Long.MIN_VALUE : value;
                block.values[i] = asDouble(value, dtype);
            }
        }
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
        boolean bigEndian = bytes.order() == ByteOrder.BIG_ENDIAN;
        long significand = bytes.getLong(bigEndian ? position + 8 : position);
        int top = bytes.getShort(bigEndian ? position + 6 : position + 8);
        int exponent = top & EXTENDED_TOP;
        double size;
        if (exponent == EXTENDED_TOP) {
            size = significand << 1 == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
        } else { // the parser rounds to the nearest double, also below the normal ones
            int scale = Math.max(1, exponent) - EXTENDED_BIAS;
            size = Double.parseDouble("0x" + Long.toHexString(significand) + "p" + scale);
        }
        return top < 0 ? -size : size;
    }
}
