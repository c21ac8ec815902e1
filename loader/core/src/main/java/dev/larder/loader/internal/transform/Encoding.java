package dev.larder.loader.internal.transform;

import dev.larder.npy.Dtype;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;

/**
 * The memory format of numbers.
 *
 * @param swapped whether their byte order differs from this machine's
 */
record Encoding(NumberType type, boolean swapped) {
    static Encoding of(Dtype dtype) {
        return new Encoding(NumberType.of(dtype), dtype.itemSize() > 1 && dtype.byteOrder() != ByteOrder.nativeOrder());
    }

    /** Reads an integer or truth value. */
    long integer(DirectBuffer bytes, int at) {
        boolean little = (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) != swapped;
        ByteOrder order = little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        long bits = switch (type.byteSize()) {
            case Byte.BYTES -> bytes.getByte(at);
            case Short.BYTES -> bytes.getShort(at, order);
            case Integer.BYTES -> bytes.getInt(at, order);
            default -> bytes.getLong(at, order);
        };
        return type.wrap(bits);
    }

    int byteSize() {
        return type.byteSize();
    }
}
