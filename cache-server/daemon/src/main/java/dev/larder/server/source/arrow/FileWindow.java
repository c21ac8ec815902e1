package dev.larder.server.source.arrow;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Looks at numbers and bits of a buffer in a file, in steps; fastest in the order of their places. */
final class FileWindow {
    private static final int STEP_BYTES = 8 << 10;

    private final ArrowFile file;
    private final long offset;
    private final long byteSize;
    private ByteBuffer step = ByteBuffer.allocate(0);
    private long from;

    /** Starts at a buffer that is known to lie in the file. */
    FileWindow(ArrowFile file, long offset, long byteSize) {
        this.file = file;
        this.offset = offset;
        this.byteSize = byteSize;
    }

    /** Returns a number of 4 or 8 bytes. */
    long number(long index, int width) {
        int place = load(Math.multiplyExact(index, width), width);
        return width == Integer.BYTES ? step.getInt(place) : step.getLong(place);
    }

    /** Returns a bit; bits are counted from the lowest of the first byte. */
    boolean bit(long index) {
        int place = load(index >>> 3, 1);
        return bit(step, place * Byte.SIZE + (int) (index & 7)) != 0;
    }

    /** Returns a bit as 0 or 1. */
    static int bit(ByteBuffer bits, int index) {
        return (bits.get(index >>> 3) >>> (index & 7)) & 1;
    }

    /** Copies a stretch, which may be longer than a step. */
    ByteBuffer copy(long place, int length) {
        requireWithin(place, length);
        ByteBuffer copy = ByteBuffer.allocate(length);
        if (length > STEP_BYTES) {
            file.read(offset + place, copy);
            return copy;
        }
        if (length > 0) {
            int index = load(place, length);
            copy.put(0, step, index, length);
        }
        return copy;
    }

    private void requireWithin(long place, long length) {
        if (place < 0 || length > byteSize - place) {
            throw file.refusal("a buffer of it is too short");
        }
    }

    private int load(long place, int length) {
        if (place < from || place + length > from + step.limit()) {
            requireWithin(place, length);
            if (step.capacity() == 0) {
                step = ByteBuffer.allocate((int) Math.min(STEP_BYTES, byteSize)).order(ByteOrder.LITTLE_ENDIAN);
            }
            from = place;
            step.clear().limit((int) Math.min(step.capacity(), byteSize - place));
            file.read(offset + place, step);
        }
        return (int) (place - from);
    }
}
