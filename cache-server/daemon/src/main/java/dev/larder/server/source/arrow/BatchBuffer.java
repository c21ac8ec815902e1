package dev.larder.server.source.arrow;

import dev.larder.server.source.SourceIdentity;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A part of a file, such as a buffer of a batch. Loads a few KiB at a time, so reading in order is fastest. Not thread-safe. */
final class BatchBuffer {
    private static final int LEAST_STEP_BYTES = 2 << 10;
    private static final int STEP_BYTES = 8 << 10;
    private static final int MOST_STEP_BYTES = 16 << 10;

    /** The two numbers before a header, which are read first. */
    private static final int HEAD_BYTES = 2 * Integer.BYTES;

    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final ArrowFile file;
    private final long offset;
    private final long byteSize;
    private int stepBytes = STEP_BYTES;
    private ByteBuffer step = EMPTY;
    private long from;

    /** Takes a part of a file; the caller has checked that the file contains it. */
    BatchBuffer(ArrowFile file, long offset, long byteSize) {
        this.file = file;
        this.offset = offset;
        this.byteSize = byteSize;
    }

    /** Returns the file that contains the buffer. */
    SourceIdentity file() {
        return file.identity();
    }

    /** Returns the offset of the buffer in its file. */
    long offset() {
        return offset;
    }

    long byteSize() {
        return byteSize;
    }

    /** Returns a number of 4 or 8 bytes. */
    long number(long index, int width) {
        int place = load(Math.multiplyExact(index, width), width);
        return width == Integer.BYTES ? step.getInt(place) : step.getLong(place);
    }

    /** Returns a number of 4 or 8 bytes, without loading its neighbours. */
    long single(long index, int width) {
        long place = Math.multiplyExact(index, width);
        requireWithin(place, width);
        ByteBuffer number = ByteBuffer.allocate(width).order(ByteOrder.LITTLE_ENDIAN);
        file.read(offset + place, number);
        return width == Integer.BYTES ? number.getInt() : number.getLong();
    }

    /** Returns a bit. The first is the lowest bit of the first byte. */
    boolean bit(long index) {
        int place = load(index >>> 3, 1);
        return bit(step, place * Byte.SIZE + (int) (index & 7)) != 0;
    }

    /** Returns a bit as 0 or 1. */
    static int bit(ByteBuffer bits, int index) {
        return (bits.get(index >>> 3) >>> (index & 7)) & 1;
    }

    /** Reads the bytes that contain some bits. The first bit is bit {@code first & 7} of them. */
    static ByteBuffer bits(ArrowFile file, long offset, long first, int count) {
        int length = (int) (((first + count + 7) >>> 3) - (first >>> 3));
        return file.read(offset + (first >>> 3), length);
    }

    /** Returns some bytes, valid until the next call. Loads about as many the next time, as headers and rows have similar lengths. */
    ByteBuffer bytes(long place, int length) {
        int index = load(place, length);
        if (length > HEAD_BYTES) {
            stepBytes = Math.max(LEAST_STEP_BYTES, Math.min(MOST_STEP_BYTES, length + HEAD_BYTES));
        }
        return step.slice(index, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void requireWithin(long place, long length) {
        if (place < 0 || length > byteSize - place) {
            throw file.refusal("a buffer of it is too short");
        }
    }

    private int load(long place, int length) {
        if (place < from || place + length > from + step.limit()) {
            requireWithin(place, length);
            int wanted = (int) Math.min(Math.max(length, stepBytes), byteSize - place);
            if (wanted > step.capacity()) {
                step = ByteBuffer.allocate(wanted).order(ByteOrder.LITTLE_ENDIAN);
            }
            from = place;
            file.read(offset + place, step.clear().limit(wanted));
        }
        return (int) (place - from);
    }
}
