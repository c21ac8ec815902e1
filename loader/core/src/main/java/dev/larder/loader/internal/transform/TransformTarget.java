package dev.larder.loader.internal.transform;

import dev.larder.internal.posix.RawMemory;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The target of transformed samples: the memory of one array of a batch, wrapped once.
 *
 * <p>Threads may write different rows at the same time.
 */
public final class TransformTarget {
    static final long BYTES_OFFSET = RawMemory.arrayOffset(byte[].class);

    private final UnsafeBuffer memory;

    private TransformTarget(UnsafeBuffer memory) {
        this.memory = memory;
    }

    /** Wraps a whole buffer, regardless of its position and limit. The caller keeps ownership. */
    public static TransformTarget of(ByteBuffer memory) {
        if (memory.isReadOnly()) {
            throw new IllegalArgumentException("read-only memory cannot be written");
        }
        return new TransformTarget(new UnsafeBuffer(memory, 0, memory.capacity()));
    }

    byte @Nullable [] array() {
        return memory.byteArray();
    }

    /** Returns the offset of a row for {@link RawMemory}; all of its bytes must be inside the target. */
    long offset(int row, long rowByteSize, long byteSize) {
        long first = row * rowByteSize;
        if (row < 0 || first + byteSize > memory.capacity()) {
            throw new IndexOutOfBoundsException(
                    "row=" + row + " rowByteSize=" + rowByteSize + " byteSize=" + memory.capacity());
        }
        return memory.addressOffset() + first;
    }
}
