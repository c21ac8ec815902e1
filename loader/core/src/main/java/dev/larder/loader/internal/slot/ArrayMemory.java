package dev.larder.loader.internal.slot;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The memory of one array of a batch, on the host or on a device. */
public abstract class ArrayMemory {
    private final OutputArray description;

    /** The dimensions of the batch. */
    public final long[] shape;

    /** Creates the memory of an array; dimensions of a row that differ between batches are 0 until they are set. */
    protected ArrayMemory(OutputArray description) {
        this.description = description;
        long[] rowShape = description.rowShape();
        this.shape = new long[1 + rowShape.length];
        System.arraycopy(rowShape, 0, shape, 1, rowShape.length);
    }

    public final OutputArray description() {
        return description;
    }

    /** Returns the bytes of the batch in this array. */
    public final long byteSize() {
        long bytes = description.dtype().itemSize();
        for (long size : shape) {
            bytes = Math.multiplyExact(bytes, size);
        }
        return bytes;
    }

    /** Returns the address or handle for native code. */
    public abstract long handle();

    /** Returns the object of the Java library that owns the memory, or null if there is none. */
    public abstract @Nullable Object nativeObject();

    /** Copies as many of the first bytes as the target has room for; waits for the end of the copy. */
    public abstract void read(ByteBuffer target);
}
