package dev.larder.loader.internal.transform;

import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;

/** The number types of the steps: numpy's numeric types with a Java counterpart, without byte order. */
enum NumberType {
    BOOL(1, Domain.LONG),
    INT8(1, Domain.LONG),
    INT16(2, Domain.LONG),
    INT32(4, Domain.LONG),
    INT64(8, Domain.LONG),
    UINT8(1, Domain.LONG),
    UINT16(2, Domain.LONG),
    UINT32(4, Domain.LONG),
    UINT64(8, Domain.LONG),
    FLOAT16(2, Domain.FLOAT),
    FLOAT32(4, Domain.FLOAT),
    FLOAT64(8, Domain.DOUBLE);

    /** The Java type that holds a value between two steps; unsigned 64-bit numbers are longs with the same bits. */
    enum Domain {
        LONG,
        FLOAT,
        DOUBLE
    }

    private static final double TWO_TO_63 = 0x1.0p63;

    private final int byteSize;
    private final Domain domain;

    NumberType(int byteSize, Domain domain) {
        this.byteSize = byteSize;
        this.domain = domain;
    }

    int byteSize() {
        return byteSize;
    }

    Domain domain() {
        return domain;
    }

    boolean isInteger() {
        return domain == Domain.LONG && this != BOOL;
    }

    boolean isFloat() {
        return domain != Domain.LONG;
    }

    boolean isUnsigned() {
        return this == BOOL || (this.compareTo(UINT8) >= 0 && this.compareTo(UINT64) <= 0);
    }

    /** Returns whether steps can compute with elements of a type. */
    static boolean isNumeric(Dtype dtype) {
        return switch (dtype.kind()) {
            case BOOL, INT, UINT -> true;
            case FLOAT -> dtype.itemSize() <= Double.BYTES;
            case COMPLEX, BYTES, UNICODE, VOID, DATETIME, TIMEDELTA, STRUCT -> false;
        };
    }

    /** Returns the type of numeric elements. */
    static NumberType of(Dtype dtype) {
        if (dtype.kind() == Kind.BOOL) {
            return BOOL;
        }
        for (NumberType type : values()) {
            boolean sameKind = type.isFloat()
                    ? dtype.kind() == Kind.FLOAT
                    : dtype.kind() == (type.isUnsigned() ? Kind.UINT : Kind.INT);
            if (sameKind && type != BOOL && type.byteSize == dtype.itemSize()) {
                return type;
            }
        }
        throw new IllegalArgumentException("not numeric: dtype=" + dtype);
    }

    /** Truncates an integer to the lower bits of this type. */
    long wrap(long value) {
        return switch (this) {
            case BOOL -> value == 0 ? 0 : 1;
            case INT8 -> (byte) value;
            case INT16 -> (short) value;
            case INT32 -> (int) value;
            case UINT8 -> value & 0xff;
            case UINT16 -> value & 0xffff;
            case UINT32 -> value & 0xffff_ffffL;
            default -> value;
        };
    }

    /** Drops the fraction and clamps to the range of this type; returns 0 for NaN. */
    long saturate(double value) {
        return switch (this) {
            case BOOL -> value == 0 ? 0 : 1;
            case INT64 -> (long) value;
            case UINT64 -> value < TWO_TO_63 ? (long) Math.max(value, 0) : saturateUpperHalf(value);
            default -> Math.min(Math.max((long) value, smallest()), largest());
        };
    }

    private static long saturateUpperHalf(double value) {
        if (Double.isNaN(value)) {
            return 0;
        }
        return value >= 2 * TWO_TO_63 ? -1 : (long) (value - TWO_TO_63) | Long.MIN_VALUE;
    }

    private long smallest() {
        return isUnsigned() ? 0 : -1L << (8 * byteSize - 1);
    }

    private long largest() {
        return (1L << (isUnsigned() ? 8 * byteSize : 8 * byteSize - 1)) - 1;
    }

    /** Rounds an integer of this type to the nearest float. */
    float toFloat(long value) {
        if (this != UINT64 || value >= 0) {
            return (float) value;
        }
        return (float) ((value >>> 1) | (value & 1)) * 2; // the lowest bit only decides which way to round
    }

    /** Rounds an integer of this type to the nearest double. */
    double toDouble(long value) {
        if (this != UINT64 || value >= 0) {
            return (double) value;
        }
        return (double) ((value >>> 1) | (value & 1)) * 2;
    }
}
