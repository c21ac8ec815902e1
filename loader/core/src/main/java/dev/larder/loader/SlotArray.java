package dev.larder.loader;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.loader.transform.Output;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Memory for one array of one batch; page-aligned, and as long as the longest batch that it had to hold. */
final class SlotArray {
    /** Device uploads and {@code CL_MEM_USE_HOST_PTR} want pages. */
    private static final int ALIGNMENT = 4096;

    /** How long one array's part of a batch may be. */
    static final long MAX_BYTES = Integer.MAX_VALUE - 2L * ALIGNMENT;

    private final OutputArray description;

    /** The batch's dimensions. */
    final long[] shape;

    /** The part of the memory that this batch fills. */
    final UnsafeBuffer filled;

    private ByteBuffer bytes;
    private UnsafeBuffer memory;
    private Output output;

    SlotArray(OutputArray description, long byteSize) {
        this.description = description;
        this.shape = new long[1 + description.rowShape().length];
        System.arraycopy(description.rowShape(), 0, shape, 1, shape.length - 1);
        this.bytes = allocate(byteSize);
        this.memory = new UnsafeBuffer(bytes);
        this.output = Output.of(bytes);
        this.filled = new UnsafeBuffer(memory);
    }

    /** Returns zeroed memory on whole pages; touching it here keeps page faults out of the first batches. */
    private static ByteBuffer allocate(long byteSize) {
        int length = (int) byteSize;
        int pages = (length + ALIGNMENT - 1) & -ALIGNMENT;
        return ByteBuffer.allocateDirect(pages + ALIGNMENT)
                .alignedSlice(ALIGNMENT)
                .slice(0, length);
    }

    OutputArray description() {
        return description;
    }

    /** Returns all of the memory. */
    UnsafeBuffer memory() {
        return memory;
    }

    /** Returns all of the memory; its position and limit are never changed. */
    ByteBuffer bytes() {
        return bytes;
    }

    /** Returns all of the memory, for transforms to write. */
    Output output() {
        return output;
    }

    /** Makes room for a batch of so many rows of the shape that was set; what the memory held may be lost. */
    void resize(long rows) {
        shape[0] = rows;
        long length = description.dtype().itemSize();
        for (long size : shape) {
            length = Math.multiplyExact(length, size);
        }
        if (length > memory.capacity()) {
            requireFits(length, description.name());
            bytes = allocate(Math.min(MAX_BYTES, length + length / 4));
            memory = new UnsafeBuffer(bytes);
            output = Output.of(bytes);
        }
        if (filled.capacity() != length || filled.addressOffset() != memory.addressOffset()) {
            filled.wrap(memory, 0, (int) length);
        }
    }

    static void requireFits(long byteSize, String array) {
        if (byteSize > MAX_BYTES) {
            throw Failure.of(ErrorCode.BAD_INPUT, "batch of one array is too long")
                    .with("array", array)
                    .with("bytes", byteSize)
                    .with("max", MAX_BYTES)
                    .remedy("choose a smaller batch(…)");
        }
    }
}
