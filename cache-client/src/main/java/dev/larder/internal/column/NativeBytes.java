package dev.larder.internal.column;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Bytes outside the heap that grow at the end, in pieces. The first few are in memory shared with other small columns.
 * Little-endian; a number at a multiple of its length never crosses two pieces. Owns its memory until it is closed; every later
 * access throws {@link IllegalStateException}.
 */
final class NativeBytes implements AutoCloseable {
    private static final int PIECE_SHIFT = 22;
    private static final int PIECE_BYTES = 1 << PIECE_SHIFT;
    private static final int PIECE_MASK = PIECE_BYTES - 1;

    /**
     * Number of bytes to free in one step after their last read. Less than a piece, because hundreds of columns may be read at
     * the same time; more than a small column.
     */
    private static final int FREED_BYTES = 64 << 10;

    private final ColumnMemory memory;
    private final List<UnsafeBuffer> pieces = new ArrayList<>(1);
    private SmallMemory.@Nullable Area small; // the only piece, if there are few bytes
    private long byteSize;
    private long populatedBytes;
    private long freedBytes;
    private boolean open = true;

    NativeBytes(ColumnMemory memory) {
        this.memory = memory;
    }

    /** Allocates zeroed bytes. The caller closes them. */
    static NativeBytes zeros(ColumnMemory memory, long byteSize) {
        NativeBytes bytes = new NativeBytes(memory);
        try {
            bytes.growTo(byteSize);
            return bytes;
        } catch (RuntimeException | Error e) {
            bytes.close();
            throw e;
        }
    }

    long byteSize() {
        return byteSize;
    }

    void appendLong(long value) {
        long at = byteSize;
        growTo(at + Long.BYTES);
        putLong(at, value);
    }

    void appendInt(int value) {
        long at = byteSize;
        growTo(at + Integer.BYTES);
        piece(at).putInt((int) at & PIECE_MASK, value, ByteOrder.LITTLE_ENDIAN);
    }

    /** Appends the bytes that remain in a buffer, and leaves it empty. */
    void append(ByteBuffer source) {
        long at = byteSize;
        growTo(at + source.remaining());
        while (source.hasRemaining()) {
            int index = (int) at & PIECE_MASK;
            int length = Math.min(source.remaining(), PIECE_BYTES - index);
            piece(at).putBytes(index, source, length);
            at += length;
        }
    }

    /** Appends zeros up to a length. */
    void growTo(long newByteSize) {
        requireOpen();
        while (populatedBytes < newByteSize) {
            populate(newByteSize);
        }
        byteSize = newByteSize;
    }

    /** Doubles the populated memory, or more, so that small columns stay small. Until there is a full piece, the bytes move. */
    private void populate(long neededBytes) {
        long doubled = Math.max(neededBytes, 2 * populatedBytes);
        if (neededBytes <= SmallMemory.MOST_BYTES) {
            SmallMemory.Area larger = memory.small().allocate((int) Math.min(doubled, SmallMemory.MOST_BYTES));
            move(new UnsafeBuffer(larger.address(), larger.byteSize()), larger.byteSize());
            small = larger;
        } else if (small != null || pieces.isEmpty()) {
            int length = (int) Math.min(PIECE_BYTES, ByteSums.roundUp(doubled, PageSize.BYTES));
            move(newPiece(length), length);
        } else if (populatedBytes < PIECE_BYTES) {
            long to = Math.min(PIECE_BYTES, ByteSums.roundUp(doubled, PageSize.BYTES));
            memory.populate(pieces.get(0).addressOffset() + populatedBytes, to - populatedBytes);
            populatedBytes = to;
        } else {
            pieces.add(newPiece(PIECE_BYTES));
            populatedBytes += PIECE_BYTES;
        }
    }

    private UnsafeBuffer newPiece(int length) {
        long address = memory.allocate(PIECE_BYTES);
        try {
            memory.populate(address, length);
        } catch (RuntimeException | Error e) {
            memory.free(address, PIECE_BYTES, 0);
            throw e;
        }
        return new UnsafeBuffer(address, PIECE_BYTES);
    }

    private void move(UnsafeBuffer first, int length) {
        if (small != null) {
            first.putBytes(0, pieces.remove(0), 0, (int) byteSize);
            small.close();
            small = null;
        }
        pieces.add(first);
        populatedBytes = length;
    }

    long longAt(long position) {
        return piece(position).getLong((int) position & PIECE_MASK, ByteOrder.LITTLE_ENDIAN);
    }

    int intAt(long position) {
        return piece(position).getInt((int) position & PIECE_MASK, ByteOrder.LITTLE_ENDIAN);
    }

    void putLong(long position, long value) {
        piece(position).putLong((int) position & PIECE_MASK, value, ByteOrder.LITTLE_ENDIAN);
    }

    /** Fills a buffer with the bytes from a position on. May run while another thread closes this. */
    synchronized void read(long position, ByteBuffer target) {
        requireOpen();
        Objects.checkFromIndexSize(position, target.remaining(), byteSize);
        if (position < freedBytes) {
            throw new IllegalStateException("bytes were freed: position=" + position);
        }
        long at = position;
        while (target.hasRemaining()) {
            int index = (int) at & PIECE_MASK;
            int length = Math.min(target.remaining(), PIECE_BYTES - index);
            piece(at).getBytes(index, target, length);
            at += length;
        }
    }

    /** Copies bytes to the heap. */
    byte[] copy(long position, int length) {
        byte[] copy = new byte[length];
        read(position, ByteBuffer.wrap(copy));
        return copy;
    }

    /** Opens the bytes. Several channels may read at the same time. */
    ReadableByteChannel open() {
        return new Reading(this, false);
    }

    /** Opens the bytes for the last time: each part is freed after it has been read. */
    ReadableByteChannel drain() {
        return new Reading(this, true);
    }

    private synchronized void freeBefore(long position) {
        while (open && freedBytes + FREED_BYTES <= position) {
            free(FREED_BYTES);
        }
    }

    /** Frees the next bytes, which must be in one piece. */
    private void free(int length) {
        long populated = Math.max(0, Math.min(length, populatedBytes - freedBytes));
        int piece = (int) (freedBytes >>> PIECE_SHIFT);
        memory.free(pieces.get(piece).addressOffset() + (freedBytes & PIECE_MASK), length, populated);
        freedBytes += length;
    }

    private UnsafeBuffer piece(long position) {
        requireOpen();
        Objects.checkIndex(position, byteSize);
        return pieces.get((int) (position >>> PIECE_SHIFT));
    }

    private void requireOpen() {
        if (!open) {
            throw new IllegalStateException("column is closed");
        }
    }

    @Override
    public synchronized void close() {
        open = false;
        if (small != null) {
            small.close();
            small = null;
            pieces.clear();
        }
        while (freedBytes >>> PIECE_SHIFT < pieces.size()) {
            free(PIECE_BYTES - ((int) freedBytes & PIECE_MASK));
        }
    }

    /** A channel that reads all bytes once. */
    private static final class Reading implements ReadableByteChannel {
        private final NativeBytes bytes;
        private final boolean isLast;
        private long position;
        private boolean open = true;

        Reading(NativeBytes bytes, boolean isLast) {
            this.bytes = bytes;
            this.isLast = isLast;
        }

        @Override
        public int read(ByteBuffer target) {
            int length = (int) Math.min(target.remaining(), bytes.byteSize - position);
            if (length == 0) {
                return target.hasRemaining() ? -1 : 0;
            }
            int limit = target.limit();
            bytes.read(position, target.limit(target.position() + length));
            target.limit(limit);
            position += length;
            if (isLast) {
                bytes.freeBefore(position);
            }
            return length;
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public void close() {
            open = false;
        }
    }
}
