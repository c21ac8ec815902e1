package dev.larder.server.source.formats;

import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.nio.ByteBuffer;

/** Turns numbers into the elements of an array of one type. */
final class NumberFormat {
    private static final double TWO_TO_63 = 0x1p63;

    private final Dtype dtype;
    private final int itemSize;
    private final boolean isReal;

    /** Writes into arrays of a type that {@link #isNumeric}. */
    NumberFormat(Dtype dtype) {
        this.dtype = dtype;
        this.itemSize = dtype.itemSize();
        this.isReal = dtype.kind() == Kind.FLOAT;
    }

    /** Returns whether a column of numbers can become an array of such a type. */
    static boolean isNumeric(Dtype dtype) {
        return switch (dtype.kind()) {
            case BOOL, INT, UINT -> true;
            case FLOAT -> dtype.itemSize() <= Double.BYTES;
            default -> false;
        };
    }

    Dtype dtype() {
        return dtype;
    }

    boolean isReal() {
        return isReal;
    }

    /** Returns whether the last number read is an element of the type, floats being rounded. */
    boolean fits(NumberText.Kind kind, NumberText number) {
        if (isReal) {
            return true;
        }
        return switch (kind) {
            case INTEGER -> fits(number.integer());
            case UNSIGNED -> dtype.kind() == Kind.UINT && itemSize == Long.BYTES;
            case REAL -> isWhole(number.real()) && number.isExact() && fits((long) number.real());
            case MISSING, NONE -> false;
        };
    }

    private static boolean isWhole(double real) {
        return real == Math.rint(real) && real >= -TWO_TO_63 && real < TWO_TO_63;
    }

    private boolean fits(long value) {
        int bits = itemSize * Byte.SIZE;
        return switch (dtype.kind()) {
            case BOOL -> value == 0 || value == 1;
            case INT -> value == value << (Long.SIZE - bits) >> (Long.SIZE - bits);
            default -> value >= 0 && (bits == Long.SIZE || value >>> bits == 0);
        };
    }

    /** Appends an integer; an unsigned one has its 64 bits in the value. */
    void put(ByteBuffer target, long value, boolean isUnsigned) {
        if (isReal) {
            boolean isLarge = isUnsigned && value < 0;
            put(target, isLarge ? ((value >>> 1) | (value & 1)) * 2.0 : (double) value);
            return;
        }
        switch (itemSize) {
            case Byte.BYTES -> target.put((byte) value);
            case Short.BYTES -> target.putShort((short) value);
            case Integer.BYTES -> target.putInt((int) value);
            default -> target.putLong(value);
        }
    }

    /** Appends a double, rounded to the nearest element. */
    void put(ByteBuffer target, double value) {
        switch (itemSize) {
            case Short.BYTES -> target.putShort(half(value));
            case Float.BYTES -> target.putFloat((float) value);
            default -> target.putDouble(value);
        }
    }

    /** Rounds to the nearest binary16, halves to even. */
    static short half(double value) {
        int sign = (int) (Double.doubleToRawLongBits(value) >>> 48) & 0x8000;
        double magnitude = Math.abs(value);
        if (Double.isNaN(magnitude)) {
            return (short) (sign | 0x7e00);
        } else if (magnitude >= 65520) {
            return (short) (sign | 0x7c00);
        } else if (magnitude < 0x1p-14) {
            return (short) (sign | (int) Math.rint(magnitude * 0x1p24));
        }
        int exponent = Math.getExponent(magnitude);
        int fraction = (int)
                Math.rint(Math.scalb(magnitude, 10 - exponent)); // 1024 to 2048: a carry moves the exponent by itself
        return (short) (sign | (((exponent + 14) << 10) + fraction));
    }
}
