package dev.larder.loader.internal.image;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.device.HostMemory;
import java.nio.ByteBuffer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One thread's copy of an encoded image. A copy, because a decoder outside of Java would end the JVM where an array
 * that was loaded in place is truncated meanwhile; it costs a hundredth of decoding.
 */
final class EncodedImage {
    private static final int LEAST_BYTES = 256 << 10;

    private final UnsafeBuffer memory = new UnsafeBuffer(new byte[0]);
    private @Nullable ByteBuffer bytes;
    private int length;

    void set(DirectBuffer source) {
        length = source.capacity();
        if (bytes == null || memory.capacity() < length) {
            bytes = HostMemory.allocate(Math.max(LEAST_BYTES, length + length / 4L))
                    .bytes();
            memory.wrap(bytes);
        }
        source.getBytes(0, memory, 0, length);
    }

    int length() {
        return length;
    }

    long address() {
        return memory.addressOffset();
    }

    int at(int place) {
        return memory.getByte(place) & 0xff;
    }

    /** Returns the bytes as an array of their own. */
    byte[] toArray() {
        byte[] copy = new byte[length];
        memory.getBytes(0, copy);
        return copy;
    }

    boolean isJpeg() {
        return length > 2 && at(0) == 0xff && at(1) == 0xd8 && at(2) == 0xff;
    }

    /** Tells whether the marker that ends a JPEG stands anywhere behind its begin. */
    boolean hasEndOfJpeg() {
        for (int i = length - 2; i > 2; i--) {
            if (at(i) == 0xff && at(i + 1) == 0xd9) {
                return true;
            }
        }
        return false;
    }

    /** Starts the failure of a decoder. */
    Failure failure(String decoder, String reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot decode image")
                .with("bytes", length)
                .with("decoder", decoder)
                .with("reason", reason);
    }
}
