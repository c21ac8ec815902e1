package dev.larder.loader.internal.image;

import dev.larder.internal.posix.RawMemory;
import dev.larder.loader.internal.device.HostMemory;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Pixels outside the heap for native decoders: four bytes each, or one for grey. The memory is as large as the largest image so far.
 */
final class DecodedPixels extends Pixels {
    private static final long INTS_OFFSET = RawMemory.arrayOffset(int[].class);

    private static final byte[] NOTHING = {};

    private final UnsafeBuffer memory = new UnsafeBuffer(NOTHING);

    /** Reachable as long as its address is used. */
    private @Nullable ByteBuffer bytes;

    private byte[] greys = {};
    private int pixelSize;

    /** Sets the size; the content is lost. */
    void begin(int newHeight, int newWidth, int newChannels) {
        height = newHeight;
        width = newWidth;
        channels = newChannels;
        pixelSize = newChannels == 1 ? 1 : Integer.BYTES;
        int length = Math.multiplyExact(Math.multiplyExact(newWidth, newHeight), pixelSize);
        if (bytes == null || bytes.capacity() < length) {
            bytes = null;
            memory.wrap(NOTHING); // so that the old memory can be collected before the new allocation
            ByteBuffer longer = HostMemory.allocate(length).bytes();
            memory.wrap(longer);
            bytes = longer;
        }
    }

    long address() {
        return memory.addressOffset();
    }

    UnsafeBuffer memory() {
        return memory;
    }

    /** Writes one pixel in the form of {@link #row}. */
    void put(int pixel, int value) {
        if (pixelSize == 1) {
            memory.putByte(pixel, (byte) value);
        } else {
            memory.putInt(pixel * Integer.BYTES, value);
        }
    }

    /** Converts RGB to grey with the weights of Pillow. */
    void toGrey() {
        for (int i = 0; i < width * height; i++) {
            memory.putByte(i, (byte) luma(memory.getInt(i * Integer.BYTES)));
        }
        channels = 1;
        pixelSize = 1;
    }

    static int luma(int pixel) {
        return ((pixel & 0xff) * 19595 + ((pixel >> 8) & 0xff) * 38470 + ((pixel >> 16) & 0xff) * 7471 + 0x8000) >> 16;
    }

    @Override
    void row(int y, int x, int count, int[] target) {
        long at = memory.addressOffset() + ((long) y * width + x) * pixelSize;
        if (pixelSize == Integer.BYTES) {
            RawMemory.copy(null, at, target, INTS_OFFSET, (long) count * Integer.BYTES);
            return;
        }
        if (greys.length < count) {
            greys = new byte[count];
        }
        memory.getBytes((y * width + x), greys, 0, count);
        for (int i = 0; i < count; i++) {
            target[i] = greys[i] & 0xff;
        }
    }
}
