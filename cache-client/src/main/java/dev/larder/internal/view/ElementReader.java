package dev.larder.internal.view;

import dev.larder.internal.number.Half;
import dev.larder.internal.posix.RawMemory;
import dev.larder.npy.Dtype;

/** Reads one element of an array and converts it. An array has one kind of element, so the switches predict well. */
public final class ElementReader {
    /** The binary form of an element. */
    public enum Kind {
        BOOL,
        INT8,
        INT16,
        INT32,
        INT64,
        UINT8,
        UINT16,
        UINT32,
        UINT64,
        FLOAT16,
        FLOAT32,
        FLOAT64,
        /** A number of a size that Java lacks, or no number. Only its bytes can be read. */
        OTHER;

        /** Returns the kind of elements of a dtype. */
        public static Kind of(Dtype dtype) {
            int size = dtype.itemSize();
            return switch (dtype.kind()) {
                case BOOL -> BOOL;
                case INT, DATETIME, TIMEDELTA -> size == 1 ? INT8 : size == 2 ? INT16 : size == 4 ? INT32 : INT64;
                case UINT -> size == 1 ? UINT8 : size == 2 ? UINT16 : size == 4 ? UINT32 : UINT64;
                case FLOAT -> size == 2 ? FLOAT16 : size == 4 ? FLOAT32 : size == 8 ? FLOAT64 : OTHER;
                default -> OTHER;
            };
        }
    }

    /** The results of {@link #plainCode} for the kinds that a view reads without a switch. */
    public static final int PLAIN_FLOAT32 = 1;

    public static final int PLAIN_FLOAT64 = 2;
    public static final int PLAIN_INT64 = 3;

    private ElementReader() {}

    /** Returns the code of one of the three most common kinds, or 0 for any other. */
    public static int plainCode(Kind kind) {
        return switch (kind) {
            case FLOAT32 -> PLAIN_FLOAT32;
            case FLOAT64 -> PLAIN_FLOAT64;
            case INT64 -> PLAIN_INT64;
            default -> 0;
        };
    }

    /** Returns whether elements are complex numbers of 8 or 16 bytes. */
    public static boolean isComplex(Dtype dtype) {
        return dtype.kind() == dev.larder.npy.Kind.COMPLEX && dtype.itemSize() <= 2 * Double.BYTES;
    }

    /** Returns the kind of the two halves of a complex number. */
    public static Kind partOf(Dtype dtype) {
        return dtype.itemSize() == 2 * Float.BYTES ? Kind.FLOAT32 : Kind.FLOAT64;
    }

    /** Returns an element as a double. */
    public static double toDouble(Kind kind, long address, boolean swapped) {
        return switch (kind) {
            case FLOAT64 -> Double.longBitsToDouble(int64(address, swapped));
            case FLOAT32 -> Float.intBitsToFloat(int32(address, swapped));
            case FLOAT16 -> Half.toFloat(int16(address, swapped));
            case UINT64 -> unsignedToDouble(int64(address, swapped));
            default -> toLong(kind, address, swapped);
        };
    }

    /** Returns an element as a float. */
    public static float toFloat(Kind kind, long address, boolean swapped) {
        return switch (kind) {
            case FLOAT32 -> Float.intBitsToFloat(int32(address, swapped));
            case UINT8 -> RawMemory.getByte(address) & 0xff;
            case INT64 -> int64(address, swapped);
            default -> (float) toDouble(kind, address, swapped);
        };
    }

    /** Returns an integer or boolean element as a long. A uint64 keeps its bits. */
    public static long toLong(Kind kind, long address, boolean swapped) {
        return switch (kind) {
            case BOOL -> RawMemory.getByte(address) == 0 ? 0 : 1;
            case INT8 -> RawMemory.getByte(address);
            case UINT8 -> RawMemory.getByte(address) & 0xff;
            case INT16 -> int16(address, swapped);
            case UINT16 -> int16(address, swapped) & 0xffff;
            case INT32 -> int32(address, swapped);
            case UINT32 -> int32(address, swapped) & 0xffff_ffffL;
            case INT64, UINT64 -> int64(address, swapped);
            case FLOAT16, FLOAT32, FLOAT64, OTHER -> throw new IllegalArgumentException("kind=" + kind);
        };
    }

    private static short int16(long address, boolean swapped) {
        short value = RawMemory.getShort(address);
        return swapped ? Short.reverseBytes(value) : value;
    }

    private static int int32(long address, boolean swapped) {
        int value = RawMemory.getInt(address);
        return swapped ? Integer.reverseBytes(value) : value;
    }

    private static long int64(long address, boolean swapped) {
        long value = RawMemory.getLong(address);
        return swapped ? Long.reverseBytes(value) : value;
    }

    /** Rounds once, to nearest even, as numpy's cast of uint64 to float64 does. */
    private static double unsignedToDouble(long value) {
        return value >= 0 ? value : (double) ((value >>> 1) | (value & 1)) * 2;
    }
}
