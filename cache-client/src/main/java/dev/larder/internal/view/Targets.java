package dev.larder.internal.view;

import dev.larder.internal.posix.RawMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Checks the targets of copies. Refuses ranges outside the target and read-only buffers. */
public final class Targets {
    private Targets() {}

    /** Refuses a read-only buffer and a range outside a buffer. */
    public static void requireWritable(ByteBuffer target, long offset, long length) {
        if (target.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        requireRange(offset, length, target.capacity());
    }

    /** Refuses a read-only buffer and a range outside a buffer that cannot grow. */
    public static void requireWritable(MutableDirectBuffer target, long offset, long length) {
        ByteBuffer backing = target.byteBuffer();
        if (backing != null && backing.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        if (!target.isExpandable()) {
            requireRange(offset, length, target.capacity());
        }
    }

    private static void requireRange(long offset, long length, long capacity) {
        if (offset < 0 || length < 0 || offset > capacity - length) {
            throw new IndexOutOfBoundsException("the copied bytes do not fit into the target: offset=" + offset
                    + " bytes=" + length + " capacity=" + capacity);
        }
    }

    /** Copies checked memory into a checked target. The caller checks afterwards that the view was open. */
    public static void copy(long address, MutableDirectBuffer target, int index, int length) {
        if (target instanceof UnsafeBuffer raw) {
            try {
                RawMemory.copy(address, raw.byteArray(), raw.addressOffset() + index, length);
            } finally {
                Reference.reachabilityFence(raw);
            }
        } else if (length > 0) {
            new UnsafeBuffer(address, length).getBytes(0, target, index, length);
        }
    }
}
