package dev.larder.loader.internal.slot;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.transform.TransformTarget;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** Memory for one array of one batch; page-aligned, and as long as its longest batch so far. */
public final class SlotArray extends ArrayMemory {
    /** The most bytes of one array in a batch. */
    public static final long MAX_BYTES = Integer.MAX_VALUE - 2L * HostMemory.ALIGNMENT;

    private final HostAllocator allocator;

    /** The part of the memory that this batch fills. */
    public final UnsafeBuffer filled;

    private HostMemory owned;
    private UnsafeBuffer memory;
    private TransformTarget output;

    /** The memory for functions that fill whole batches; created at its first use. */
    private @Nullable ByteBuffer whole;

    SlotArray(OutputArray description, long byteSize, HostAllocator allocator) {
        super(description);
        this.allocator = allocator;
        this.owned = allocator.allocate(Math.max(1, byteSize)); // rows may be empty
        this.memory = new UnsafeBuffer(bytes());
        this.output = TransformTarget.of(bytes());
        this.filled = new UnsafeBuffer(memory);
    }

    /** Returns all of the memory. */
    public UnsafeBuffer memory() {
        return memory;
    }

    /** Returns all of the memory; its position and limit are never changed. */
    public ByteBuffer bytes() {
        return owned.bytes();
    }

    /** Returns the part that this batch fills, in the byte order of the elements: the same buffer until the memory grows. */
    public ByteBuffer filledBytes() {
        ByteBuffer view = whole;
        if (view == null) {
            view = bytes().duplicate().order(description().dtype().byteOrder());
            whole = view;
        }
        return view.clear().limit(filled.capacity());
    }

    /** Returns the memory object for a device; another one after the memory has grown. */
    public HostMemory owned() {
        return owned;
    }

    /** Returns all of the memory, for transforms to write. */
    public TransformTarget output() {
        return output;
    }

    /** Sets the number of rows, with the shape that was set; the content may be lost. */
    public void resize(long rows) {
        shape[0] = rows;
        long length = byteSize();
        if (length > memory.capacity()) {
            requireFits(length, description().name());
            HostMemory longer = allocator.allocate(Math.min(MAX_BYTES, length + length / 4));
            owned.close();
            owned = longer;
            memory = new UnsafeBuffer(bytes());
            output = TransformTarget.of(bytes());
            whole = null;
        }
        if (filled.capacity() != length || filled.addressOffset() != memory.addressOffset()) {
            filled.wrap(memory, 0, (int) length);
        }
    }

    @Override
    public long handle() {
        return filled.addressOffset();
    }

    @Override
    public @Nullable Object nativeObject() {
        return null;
    }

    @Override
    public void read(ByteBuffer target) {
        target.put(0, bytes(), 0, target.remaining());
    }

    private static void requireFits(long byteSize, String array) {
        if (byteSize > MAX_BYTES) {
            throw Failure.of(ErrorCode.BAD_INPUT, "batch of one array is too long")
                    .with("array", array)
                    .with("bytes", byteSize)
                    .with("max", MAX_BYTES)
                    .remedy("choose a smaller batchSize(…)");
        }
    }
}
