package dev.larder.distributed.shared;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.RawMemory;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;

/** The primitive Java type of an element. */
enum PrimitiveType {
    BYTE(byte[].class),
    SHORT(short[].class),
    INT(int[].class),
    LONG(long[].class),
    FLOAT(float[].class),
    DOUBLE(double[].class);

    private final long arrayOffset;

    PrimitiveType(Class<?> array) {
        this.arrayOffset = RawMemory.arrayOffset(array);
    }

    /** Returns the offset of the first element in Java arrays of the type. */
    long arrayOffset() {
        return arrayOffset;
    }

    /** Returns the type for a dtype. Fails with BAD_INPUT if it is not a number of a Java size, or is big-endian. */
    static PrimitiveType of(Dtype dtype) {
        int size = dtype.itemSize();
        boolean isInteger = dtype.kind() == Kind.INT || dtype.kind() == Kind.UINT;
        boolean isFloat = dtype.kind() == Kind.FLOAT;
        if (dtype.isLittleEndian()) {
            if (size == 1 && (isInteger || dtype.kind() == Kind.BOOL)) {
                return BYTE;
            } else if (size == 2 && (isInteger || isFloat)) {
                return SHORT; // half precision as its bits
            } else if (size == 4 && (isInteger || isFloat)) {
                return isFloat ? FLOAT : INT;
            } else if (size == 8 && (isInteger || isFloat)) {
                return isFloat ? DOUBLE : LONG;
            }
        }
        throw Failure.of(ErrorCode.BAD_INPUT, "no shared array can have such elements")
                .with("dtype", dtype)
                .remedy("use little-endian numbers: |b1 |i1 |u1 <i2 <u2 <f2 <i4 <u4 <f4 <i8 <u8 <f8");
    }
}
