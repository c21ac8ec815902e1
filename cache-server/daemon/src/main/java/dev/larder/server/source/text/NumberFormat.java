package dev.larder.server.source.text;

import dev.larder.internal.number.Half;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.nio.ByteBuffer;

/** Turns numbers into the elements of an array of one type. */
public final class NumberFormat {
    private static final double TWO_TO_63 = 0x1p63;

    private final Dtype dtype;
    private final int itemSize;
    private final boolean isReal;

    /** Writes into arrays of a type that {@link #isNumeric}. */
    public NumberFormat(Dtype dtype) {
        this.dtype = dtype;
        this.itemSize = dtype.itemSize();
        this.isReal = dtype.kind() == Kind.FLOAT;
    }

    /** Returns whether a column of numbers can become an array of such a type. */
    public static boolean isNumeric(Dtype dtype) {
        return switch (dtype.kind()) {
            case BOOL, INT, UINT -> true;
            case FLOAT -> dtype.itemSize() <= Double.BYTES;
            default -> false;
        };
    }

    Dtype dtype() {
        return dtype;
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

    /** Appends the last number, after {@link #fits} has accepted it. */
    void put(ByteBuffer target, NumberText.Kind kind, NumberText number) {
        if (isReal) {
            put(target, number.real());
            return;
        }
        long value = kind == NumberText.Kind.REAL ? (long) number.real() : number.integer();
        switch (itemSize) {
            case Byte.BYTES -> target.put((byte) value);
            case Short.BYTES -> target.putShort((short) value);
            case Integer.BYTES -> target.putInt((int) value);
            default -> target.putLong(value);
        }
    }

    private void put(ByteBuffer target, double value) {
        switch (itemSize) {
            case Short.BYTES -> target.putShort((short) Half.ofDouble(value));
            case Float.BYTES -> target.putFloat((float) value);
            default -> target.putDouble(value);
        }
    }
}
