package dev.larder.testing;

import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;

/**
 * One array to publish in a test.
 *
 * @param header its dtype, order and shape
 * @param data its bytes, as they lie in memory
 * @param part the part it plays in a column
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record FixtureArray(NpyHeader header, byte[] data, ColumnPart part) {
    public FixtureArray {
        if (data.length != header.byteSize()) {
            throw new IllegalArgumentException("data=" + data.length + " header=" + header.byteSize());
        }
    }

    public FixtureArray(NpyHeader header, byte[] data) {
        this(header, data, ColumnPart.NONE);
    }

    /** Reads what a builder made. */
    public static FixtureArray of(ColumnArray array) {
        ByteBuffer data = ByteBuffer.allocate((int) array.header().byteSize());
        try (ReadableByteChannel channel = array.open()) {
            while (data.hasRemaining()) {
                ByteBuffer piece = data.slice(data.position(), Math.min(999, data.remaining()));
                data.position(data.position() + channel.read(piece));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new FixtureArray(array.header(), data.array(), ColumnPart.valueOf(array.part()));
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
