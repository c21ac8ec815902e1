package dev.larder.loader.internal.slot;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Writes padding elements. */
public final class Filler {
    private Filler() {}

    /** Returns the bytes of a number as an element of a type. */
    public static byte[] of(Dtype dtype, double value) {
        byte[] bytes = new byte[dtype.itemSize()];
        if (value == 0) {
            return bytes;
        }
        ByteBuffer element = ByteBuffer.wrap(bytes).order(dtype.byteOrder());
        boolean whole = dtype.kind() == Kind.INT || dtype.kind() == Kind.UINT;
        if (dtype.kind() == Kind.FLOAT && bytes.length >= Float.BYTES && bytes.length <= Double.BYTES) {
            if (bytes.length == Float.BYTES) {
                element.putFloat(0, (float) value);
            } else {
                element.putDouble(0, value);
            }
        } else if (whole && value == Math.rint(value) && fits(dtype, value)) {
            ByteBuffer wide = ByteBuffer.allocate(Long.BYTES).order(dtype.byteOrder());
            wide.putLong(0, (long) value);
            wide.get(dtype.isLittleEndian() ? 0 : Long.BYTES - bytes.length, bytes);
        } else {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot pad with this number")
                    .with("filler", value)
                    .with("dtype", dtype)
                    .remedy("pad with 0, or with a number that the dtype holds");
        }
        return bytes;
    }

    private static boolean fits(Dtype dtype, double value) {
        int bits = dtype.itemSize() * Byte.SIZE;
        boolean signed = dtype.kind() == Kind.INT;
        double limit = Math.scalb(1.0, signed ? bits - 1 : Math.min(bits, Long.SIZE - 1));
        return value < limit && value >= (signed ? -limit : 0);
    }

    /** Fills bytes with copies of an element. */
    public static void fill(byte[] element, UnsafeBuffer target, int offset, int length) {
        boolean even = true;
        for (byte part : element) {
            even &= part == element[0];
        }
        if (even) {
            target.setMemory(offset, length, element.length == 0 ? 0 : element[0]);
        } else {
            for (int at = offset; at < offset + length; at += element.length) {
                target.putBytes(at, element);
            }
        }
    }
}
