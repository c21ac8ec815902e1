package dev.larder.internal.column;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.nio.channels.ReadableByteChannel;

/** One array of a column, ready to be stored. Its bytes live until it or its builder is closed. */
public final class ColumnArray implements AutoCloseable {
    private final String name;
    private final ColumnPart part;
    private final NpyHeader header;
    private final NativeBytes bytes;

    private ColumnArray(String name, ColumnPart part, NpyHeader header, NativeBytes bytes) {
        this.name = name;
        this.part = part;
        this.header = header;
        this.bytes = bytes;
    }

    static ColumnArray of(String column, ColumnPart part, String dtype, NativeBytes bytes, long... shape) {
        return of(column, part, Dtype.parse(dtype), bytes, shape);
    }

    static ColumnArray of(String column, ColumnPart part, Dtype dtype, NativeBytes bytes, long... shape) {
        NpyHeader header = NpyHeader.of(dtype, Order.C, shape);
        if (header.byteSize() != bytes.byteSize()) {
            throw new IllegalStateException("part=" + part + " header=" + header + " bytes=" + bytes.byteSize());
        }
        return new ColumnArray(part.arrayName(column), part, header, bytes);
    }

    /** Returns the name of the array: the name of the column, then the name of the part. */
    public String name() {
        return name;
    }

    /** Returns the name of this part of the column in FORMAT.md, such as {@code INDEX_SLOTS}. */
    public String part() {
        return part.name();
    }

    /** Returns dtype, order and shape. Its {@code byteSize()} is the exact length of {@link #open}. */
    public NpyHeader header() {
        return header;
    }

    /** Opens the bytes. Several channels may read at the same time. The caller closes the channel. */
    public ReadableByteChannel open() {
        return bytes.open();
    }

    /** Opens the bytes for the last time. Each part is freed after it has been read. The caller closes the channel. */
    public ReadableByteChannel drain() {
        return bytes.drain();
    }

    /** Frees the memory. Idempotent. */
    @Override
    public void close() {
        bytes.close();
    }

    @Override
    public String toString() {
        return "ColumnArray{" + name + " " + header + "}";
    }
}
