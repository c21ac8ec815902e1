package dev.larder.reader;

import java.nio.ByteBuffer;

/** Where a reader writes arrays: memory that the daemon has reserved, as large as the offers say. Thread-safe. */
public interface Output {
    /**
     * Returns a stretch of an array to write to: direct, little-endian, good until the source is closed. Each byte of an array is asked
     * for once.
     *
     * @param offer the number of the offer
     * @param position where the stretch begins, in bytes
     * @param length how long it is, at most {@link #MOST_BYTES}
     */
    ByteBuffer at(int offer, long position, int length);

    /** The longest stretch that can be asked for. */
    int MOST_BYTES = 1 << 30;
}
