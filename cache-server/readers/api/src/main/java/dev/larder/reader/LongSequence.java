package dev.larder.reader;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Writes an array of int64 from one place on, number by number, such as the offsets of rows. Used by one thread. */
public final class LongSequence {
    private static final int BUFFERED_BYTES = 64 << 10;

    private final Output output;
    private final int offer;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFERED_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long position;

    /** Starts at an element of an offer. */
    public LongSequence(Output output, int offer, long firstElement) {
        this.output = output;
        this.offer = offer;
        this.position = firstElement * Long.BYTES;
    }

    /** Adds a number. */
    public void put(long number) {
        if (!buffer.hasRemaining()) {
            flush();
        }
        buffer.putLong(number);
    }

    /** Writes what is buffered; to be called at the end. */
    public void flush() {
        buffer.flip();
        int length = buffer.remaining();
        output.at(offer, position, length).put(buffer);
        position += length;
        buffer.clear();
    }
}
