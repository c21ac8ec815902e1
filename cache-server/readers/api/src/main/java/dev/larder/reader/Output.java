package dev.larder.reader;

import java.nio.ByteBuffer;

/** The memory for the arrays that a reader writes, as large as its offers. Thread-safe. */
public interface Output {
    /**
     * Returns a stretch of an array to write to: direct, little-endian, valid until the source is closed. A reader takes each byte of an array once.
     *
     * @param offer the number of the offer
     * @param position the offset of the stretch, in bytes
     * @param length its length, at most {@link #MOST_BYTES}
     */
    ByteBuffer at(int offer, long position, int length);

    /** The length of the longest stretch. */
    int MOST_BYTES = 1 << 30;
}
