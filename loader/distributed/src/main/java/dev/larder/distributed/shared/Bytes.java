package dev.larder.distributed.shared;

import dev.larder.internal.posix.RawMemory;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import org.agrona.MutableDirectBuffer;
import org.jspecify.annotations.Nullable;

/** Copies bytes of any number in steps, between which the JVM can stop the thread. Callers have checked bounds. */
final class Bytes {
    private static final long STEP = 1 << 20;

    private Bytes() {}

    /** Copies bytes between places of {@link RawMemory#copy}. */
    static void copy(@Nullable Object source, long from, @Nullable Object target, long to, long byteSize) {
        for (long done = 0; done < byteSize; done += STEP) {
            RawMemory.copy(source, from + done, target, to + done, Math.min(STEP, byteSize - done));
        }
    }

    /** Refuses a target that is too short, or read-only, because a copy would kill the process. */
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
