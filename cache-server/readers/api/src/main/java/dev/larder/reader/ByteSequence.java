package dev.larder.reader;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Writes an array from one place on, piece by piece, little-endian. Used by one thread. */
public final class ByteSequence {
    private static final int BUFFERED_BYTES = 256 << 10;

    /** The first buffer: most sequences of a table with thousands of columns are shorter. */
    private static final int FIRST_BYTES = 4 << 10;

    private final Output output;
    private final int offer;
    private ByteBuffer buffer = ByteBuffer.allocate(FIRST_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long position;

    /** Starts at a byte of an offer. */
    public ByteSequence(Output output, int offer, long position) {
        this.output = output;
        this.offer = offer;
        this.position = position;
    }

    /** Adds a number of eight bytes. */
    public void putLong(long number) {
        room(Long.BYTES).putLong(number);
    }

    /** Adds a number of four bytes, such as the bits of a float. */
    public void putInt(int number) {
        room(Integer.BYTES).putInt(number);
    }

    /** Adds a byte. */
    public void put(byte value) {
        room(1).put(value);
    }

    /** Adds bytes; many go straight to the output. */
    public void put(byte[] bytes, int from, int length) {
        if (length > BUFFERED_BYTES) {
            flush();
            output.at(offer, position, length).put(bytes, from, length);
            position += length;
        } else {
            room(length).put(bytes, from, length);
        }
    }

    private ByteBuffer room(int length) {
        if (buffer.remaining() < length) {
            flush();
            if (buffer.capacity() < BUFFERED_BYTES) {
                buffer = ByteBuffer.allocate(BUFFERED_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            }
        }
        return buffer;
    }

    /** Writes the buffered bytes. The caller flushes at the end. */
    public void flush() {
        buffer.flip();
        int length = buffer.remaining();
        output.at(offer, position, length).put(buffer);
        position += length;
        buffer.clear();
    }
}
