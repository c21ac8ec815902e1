package dev.larder.loader.internal.image;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.device.HostMemory;
import java.nio.ByteBuffer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One thread's copy of an encoded image. If an array that was loaded in place is truncated, a native decoder would crash the JVM; a copy
 * takes a hundredth of the time of decoding.
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

    /** Changes a byte of the copy. */
    void put(int place, int value) {
        memory.putByte(place, (byte) value);
    }

    void copy(int place, byte[] target, int offset, int count) {
        memory.getBytes(place, target, offset, count);
    }

    boolean isJpeg() {
        return length > 2 && at(0) == 0xff && at(1) == 0xd8 && at(2) == 0xff;
    }

    /** Returns whether a JPEG is complete. Goes from marker to marker, because segments may contain other images. */
    boolean hasEndOfJpeg() {
        int i = 2;
        while (i < length - 1) {
            int marker = at(i) == 0xff ? at(i + 1) : 0;
            if (marker == 0xd9) {
                return true;
            }
            boolean segment = marker > 0x01 && marker != 0xff && (marker < 0xd0 || marker > 0xd8);
            if (segment && i < length - 3) {
                i += 2 + Math.max(2, (at(i + 2) << 8) | at(i + 3));
            } else {
                i++; // pixels, a marker without a segment, or unexpected bytes
            }
        }
        return false;
    }

    /** Returns the failure of a decoder. */
    Failure failure(String decoder, String reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot decode image")
                .with("bytes", length)
                .with("decoder", decoder)
                .with("reason", reason);
    }
}
