package dev.larder.readers.hdf5;

import io.jhdf.object.datatype.DataType;
import io.jhdf.object.datatype.OrderedDataType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Puts numbers that the library has decoded back into the bytes of the file. */
final class Numbers {
    private Numbers() {}

    /** Puts one; an unsigned one that Java has no type for has come as a wider one. */
    static void put(ByteBuffer target, Number value, DataType item) {
        target.order(item instanceof OrderedDataType ordered ? ordered.getByteOrder() : ByteOrder.LITTLE_ENDIAN);
        boolean isFloat = value instanceof Float || value instanceof Double;
        switch (item.getSize()) {
            case 1 -> target.put(value.byteValue());
            case 2 -> target.putShort(isFloat ? half(value.floatValue()) : value.shortValue());
            case 4 -> target.putInt(isFloat ? Float.floatToRawIntBits(value.floatValue()) : value.intValue());
            default -> target.putLong(isFloat ? Double.doubleToRawLongBits(value.doubleValue()) : value.longValue());
        }
    }

    /** Rounds nothing: what is given was a half. */
    private static short half(float value) {
        int bits = Float.floatToRawIntBits(value);
        int sign = (bits >>> 16) & 0x8000;
        int exponent = ((bits >>> 23) & 0xff) - 127 + 15;
        int mantissa = (bits >>> 13) & 0x3ff;
        if ((bits & 0x7fffffff) == 0) {
            return (short) sign;
        } else if (exponent >= 31) {
            return (short) (sign | 0x7c00 | mantissa);
        } else if (exponent <= 0) {
            return (short) (sign | ((mantissa | 0x400) >> (1 - exponent)));
        }
        return (short) (sign | (exponent << 10) | mantissa);
    }
}
