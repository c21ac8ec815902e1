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

    /** Wraps the whole of a buffer, whatever its position and limit. The buffer stays its owner's. */
    public static TransformTarget of(ByteBuffer memory) {
        if (memory.isReadOnly()) {
            throw new IllegalArgumentException("read-only memory cannot be written");
        }
        return new TransformTarget(new UnsafeBuffer(memory, 0, memory.capacity()));
    }

    /** Returns how many bytes there are. */
    public int byteSize() {
        return memory.capacity();
    }

    byte @Nullable [] array() {
        return memory.byteArray();
    }

    /** Returns where some bytes begin, as {@link RawMemory} counts; all of them must be there. */
    long offset(int row, long rowByteSize, long byteSize) {
        long first = row * rowByteSize;
        if (row < 0 || first + byteSize > memory.capacity()) {
            throw new IndexOutOfBoundsException(
                    "row=" + row + " rowByteSize=" + rowByteSize + " byteSize=" + memory.capacity());
        }
        return memory.addressOffset() + first;
    }
}
