package dev.larder.internal.column;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.function.LongUnaryOperator;

/** Builds an array of plain elements, outside the heap. Not thread-safe. */
public final class ElementsBuilder implements AutoCloseable {
    private final NativeBytes bytes;

    /** Starts an array in memory that the caller closes later. */
    public ElementsBuilder(ColumnMemory memory) {
        this.bytes = new NativeBytes(memory);
    }

    /** Adds an element of eight bytes, little-endian. */
    public void add(long element) {
        bytes.appendLong(element);
    }

    /** Adds the bytes that remain in a buffer, and leaves it empty. */
    public void add(ByteBuffer elements) {
        bytes.append(elements);
    }

    /** Replaces every element of an array of eight-byte elements. */
    public void replaceAll(LongUnaryOperator change) {
        for (long at = 0; at < bytes.byteSize(); at += Long.BYTES) {
            bytes.putLong(at, change.applyAsLong(bytes.longAt(at)));
        }
    }

    /** Returns the array. Nothing can be added afterwards. The array lives until this builder is closed. */
    public ColumnArray array(String name, Dtype dtype, long... shape) {
        return ColumnArray.of(name, ColumnPart.NONE, dtype, bytes, shape);
    }

    /** Frees the memory of this builder and of its array. Idempotent. */
    @Override
    public void close() {
        bytes.close();
    }
}
