package dev.larder.testing;

import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One array to publish in a test.
 *
 * @param header its dtype, order and shape
 * @param data its bytes, as they lie in memory
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record FixtureArray(NpyHeader header, byte[] data) {
    public FixtureArray {
        if (data.length != header.byteSize()) {
            throw new IllegalArgumentException("data=" + data.length + " header=" + header.byteSize());
        }
    }

    public static FixtureArray of(String dtype, Order order, byte[] data, long... shape) {
        return new FixtureArray(NpyHeader.of(Dtype.parse(dtype), order, shape), data);
    }

    public static FixtureArray bytes(byte[] data, long... shape) {
        return of("|u1", Order.C, data, shape);
    }

    public static FixtureArray floats(float[] values, long... shape) {
        ByteBuffer data = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        data.asFloatBuffer().put(values);
        return of("<f4", Order.C, data.array(), shape);
    }

    public static FixtureArray ints(int[] values, long... shape) {
        ByteBuffer data = ByteBuffer.allocate(values.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        data.asIntBuffer().put(values);
        return of("<i4", Order.C, data.array(), shape);
    }

    public static FixtureArray longs(long[] values, long... shape) {
        ByteBuffer data = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        data.asLongBuffer().put(values);
        return of("<i8", Order.C, data.array(), shape);
    }
}
