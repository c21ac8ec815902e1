package dev.larder.client;

import dev.larder.internal.ArrayFile;
import dev.larder.npy.NpyHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Writes one array of a dataset that is being built. Elements that are not written are zero.
 *
 * <p>The space is reserved at the start, so a later write cannot find the store full. Belongs to its {@link DatasetBuilder},
 * which closes it. Several threads may write different parts of the array.
 */
public final class ArrayWriter {
    private static final int STEP_BYTES = 64 << 10;

    private final ArrayFile file;

    ArrayWriter(ArrayFile file) {
        this.file = file;
    }

    /** Returns the array's name within its dataset. */
    public String name() {
        return file.name();
    }

    /** Returns element type, order and shape. */
    public NpyHeader header() {
        return file.header();
    }

    /** Returns the length of the data in bytes. */
    public long byteSize() {
        return file.byteSize();
    }

    /** Writes the bytes that remain in a buffer, in memory order, {@code offset} bytes after the start of the data. */
    public void write(long offset, ByteBuffer bytes) {
        file.write(offset, bytes);
    }

    /** Writes values in memory order, starting at element {@code first}. The array must be {@code float32}. */
    public void write(long first, float... values) {
        requireItem("f4");
        requireWithin(first, values.length);
        ByteBuffer step = step(values.length, Float.BYTES);
        for (int i = 0; i < values.length; ) {
            long at = first + i;
            step.clear();
            for (; i < values.length && step.remaining() >= Float.BYTES; i++) {
                step.putFloat(values[i]);
            }
            write(at * Float.BYTES, step.flip());
        }
    }

    /** Writes values in memory order, starting at element {@code first}. The array must be {@code float64}. */
    public void write(long first, double... values) {
        requireItem("f8");
        requireWithin(first, values.length);
        ByteBuffer step = step(values.length, Double.BYTES);
        for (int i = 0; i < values.length; ) {
            long at = first + i;
            step.clear();
            for (; i < values.length && step.remaining() >= Double.BYTES; i++) {
                step.putDouble(values[i]);
            }
            write(at * Double.BYTES, step.flip());
        }
    }

    /** Writes values in memory order, starting at element {@code first}. The array must be {@code int32}. */
    public void write(long first, int... values) {
        requireItem("i4");
        requireWithin(first, values.length);
        ByteBuffer step = step(values.length, Integer.BYTES);
        for (int i = 0; i < values.length; ) {
            long at = first + i;
            step.clear();
            for (; i < values.length && step.remaining() >= Integer.BYTES; i++) {
                step.putInt(values[i]);
            }
            write(at * Integer.BYTES, step.flip());
        }
    }

    /** Writes values in memory order, starting at element {@code first}. The array must be {@code int64}. */
    public void write(long first, long... values) {
        requireItem("i8");
        requireWithin(first, values.length);
        ByteBuffer step = step(values.length, Long.BYTES);
        for (int i = 0; i < values.length; ) {
            long at = first + i;
            step.clear();
            for (; i < values.length && step.remaining() >= Long.BYTES; i++) {
                step.putLong(values[i]);
            }
            write(at * Long.BYTES, step.flip());
        }
    }

    /** Writes values in memory order, starting at element {@code first}. The elements of the array must have one byte. */
    public void write(long first, byte... values) {
        if (header().dtype().itemSize() != 1) {
            throw mismatch("bytes");
        }
        write(first, ByteBuffer.wrap(values));
    }

    private void requireWithin(long first, int count) {
        Objects.checkFromIndexSize(first, count, byteSize() / header().dtype().itemSize());
    }

    private ByteBuffer step(int count, int itemSize) {
        ByteOrder order = header().dtype().isLittleEndian() ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        return ByteBuffer.allocateDirect((int) Math.min(STEP_BYTES, Math.max(1L, (long) count * itemSize)))
                .order(order);
    }

    private void requireItem(String type) {
        if (!header().dtype().descr().substring(1).equals(type)) {
            throw mismatch(type);
        }
    }

    private IllegalArgumentException mismatch(String type) {
        return new IllegalArgumentException("values do not have the dtype of the array: array=" + name() + " dtype="
                + header().dtype() + " values=" + type + "; write values of that dtype, or its bytes as a ByteBuffer");
    }
}
