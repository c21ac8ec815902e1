package dev.larder.internal.posix;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Ranges of memory that one read fills in order. Owns a little native memory. Not thread-safe. */
public final class ScatterList {
    /** {@code struct iovec}: an address and a length. */
    private static final int LENGTH_OFFSET = Long.BYTES;

    private static final int ENTRY_LENGTH = LENGTH_OFFSET + Long.BYTES;

    private final ByteBuffer entries;
    private final ByteBuffer skipped;
    private final long entriesAddress;
    private final long skippedAddress;
    private final int most;
    private int first;
    private int end;
    private long byteSize;

    /**
     * Creates an empty list.
     *
     * @param most maximum number of ranges; the kernel's limit is 1024
     * @param mostSkipped maximum number of bytes in one {@link #skip}
     */
    public ScatterList(int most, int mostSkipped) {
        this.most = most;
        this.entries = ByteBuffer.allocateDirect(most * ENTRY_LENGTH).order(ByteOrder.nativeOrder());
        this.skipped = ByteBuffer.allocateDirect(mostSkipped);
        this.entriesAddress = BulkIo.system().addressOf(entries);
        this.skippedAddress = BulkIo.system().addressOf(skipped);
    }

    /** Removes all ranges. */
    public void clear() {
        first = 0;
        end = 0;
        byteSize = 0;
    }

    /** Returns the number of ranges that can still be added. */
    public int room() {
        return most - end;
    }

    /** Returns the number of bytes in all ranges added since {@link #clear}. */
    public long byteSize() {
        return byteSize;
    }

    /** Adds a range. The caller keeps its memory reachable until it was read. */
    public void add(long address, long length) {
        if (end == most) {
            throw new IllegalStateException("no room for another piece: most=" + most);
        }
        put(end, address, length);
        end++;
        byteSize += length;
    }

    /** Skips bytes of the file: they are read and ignored. */
    public void skip(long length) {
        if (length > skipped.capacity()) {
            throw new IllegalArgumentException("length=" + length + " most=" + skipped.capacity());
        }
        add(skippedAddress, length);
    }

    /** Returns the number of ranges that are not yet filled. */
    int missing() {
        return end - first;
    }

    /** Returns the address of the first entry that is not yet filled. */
    long address() {
        return entriesAddress + (long) first * ENTRY_LENGTH;
    }

    /** Records that the next bytes were read. */
    void advance(long read) {
        long left = read;
        while (left > 0) {
            int at = first * ENTRY_LENGTH;
            long length = entries.getLong(at + LENGTH_OFFSET);
            if (left < length) {
                put(first, entries.getLong(at) + left, length - left);
                return;
            }
            left -= length;
            first++;
        }
    }

    private void put(int entry, long address, long length) {
        entries.putLong(entry * ENTRY_LENGTH, address);
        entries.putLong(entry * ENTRY_LENGTH + LENGTH_OFFSET, length);
    }
}
