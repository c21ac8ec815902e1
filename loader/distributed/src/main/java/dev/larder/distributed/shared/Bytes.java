package dev.larder.distributed.shared;

import dev.larder.internal.posix.RawMemory;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import org.agrona.MutableDirectBuffer;
import org.jspecify.annotations.Nullable;

/** Copies as many bytes as one likes, in steps between which the JVM can stop the thread. Callers have checked bounds. */
final class Bytes {
    private static final long STEP = 1 << 20;

    private Bytes() {}

    /** Places are as {@link RawMemory#copy} has them. */
    static void copy(@Nullable Object source, long from, @Nullable Object target, long to, long byteSize) {
        for (long done = 0; done < byteSize; done += STEP) {
            RawMemory.copy(source, from + done, target, to + done, Math.min(STEP, byteSize - done));
        }
    }

    /** Refuses what a copy would run over, or end the process at: pages that can only be read. */
    static void requireWritable(MutableDirectBuffer target, int offset, int length) {
        ByteBuffer backing = target.byteBuffer();
        if (backing != null && backing.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        if (!target.isExpandable()) {
            target.boundsCheck(offset, length);
        }
    }
}
