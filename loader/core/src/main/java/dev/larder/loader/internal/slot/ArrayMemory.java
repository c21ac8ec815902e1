package dev.larder.loader.internal.slot;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** One array of a batch where it lies, on the host or on a device. */
public abstract class ArrayMemory {
    private final OutputArray description;

    /** The batch's dimensions. */
    public final long[] shape;

    /** Describes it; dimensions of a row that differ from batch to batch are 0 until they are set. */
    protected ArrayMemory(OutputArray description) {
        this.description = description;
        long[] rowShape = description.rowShape();
        this.shape = new long[1 + rowShape.length];
        System.arraycopy(rowShape, 0, shape, 1, rowShape.length);
    }

    public final OutputArray description() {
        return description;
    }

    /** Returns how many bytes the batch has here. */
    public final long byteSize() {
        long bytes = description.dtype().itemSize();
        for (long size : shape) {
            bytes = Math.multiplyExact(bytes, size);
        }
        return bytes;
    }

    /** Returns what native code calls the memory. */
    public abstract long handle();

    /** Returns what Java libraries call it; nothing where there is no such object. */
    public abstract @Nullable Object nativeObject();

    /** Copies as many of the first bytes as the target has room for; waits until they are there. */
    public abstract void read(ByteBuffer target);
}
