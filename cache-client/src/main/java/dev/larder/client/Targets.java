package dev.larder.client;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Objects;
import org.agrona.MutableDirectBuffer;

/** Refuses copy targets that a native copy would run over, or that sit on read-only pages. */
final class Targets {
    private Targets() {}

    static void requireWritable(ByteBuffer target, long offset, long length) {
        if (target.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        Objects.checkFromIndexSize(offset, length, target.capacity());
    }

    static void requireWritable(MutableDirectBuffer target, long offset, long length) {
        ByteBuffer backing = target.byteBuffer();
        if (backing != null && backing.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        if (!target.isExpandable()) {
            Objects.checkFromIndexSize(offset, length, (long) target.capacity());
        }
    }
}
