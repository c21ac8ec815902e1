package dev.larder.column;

import dev.larder.posix.Posix;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Bytes that grow at the end, outside the heap, in pieces that never move. Little-endian; a number at a multiple of its length
 * lies in one piece. Owns its memory until it is closed; every access after that is an {@link IllegalStateException}.
 */
final class NativeBytes implements AutoCloseable {
    private static final int PIECE_SHIFT = 22;
    private static final int PIECE_BYTES = 1 << PIECE_SHIFT;
    private static final int PIECE_MASK = PIECE_BYTES - 1;

    private final Posix posix;
    private final List<UnsafeBuffer> pieces = new ArrayList<>();
    private long byteSize;
    private boolean open = true;

    NativeBytes() {
        this.posix = Posix.system();
    }

    /** Makes some that are all zero. The caller closes them. */
    static NativeBytes zeros(long byteSize) {
        NativeBytes bytes = new NativeBytes();
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

    /** Appends all that remains in a buffer, and leaves it empty. */
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
        while ((long) pieces.size() << PIECE_SHIFT < newByteSize) {
            pieces.add(new UnsafeBuffer(posix.allocate(PIECE_BYTES), PIECE_BYTES));
        }
        byteSize = newByteSize;
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

    /** Fills what remains of a buffer from a position on. Also while another thread closes this. */
    synchronized void read(long position, ByteBuffer target) {
        requireOpen();
        Objects.checkFromIndexSize(position, target.remaining(), byteSize);
        long at = position;
        while (target.hasRemaining()) {
            int index = (int) at & PIECE_MASK;
            int length = Math.min(target.remaining(), PIECE_BYTES - index);
            piece(at).getBytes(index, target, length);
            at += length;
        }
    }

    /** Returns the bytes from a position on as an array on the heap. */
    byte[] copy(long position, int length) {
        byte[] copy = new byte[length];
        read(position, ByteBuffer.wrap(copy));
        return copy;
    }

    /** Opens them from the start. Any number of channels may read at once. */
    ReadableByteChannel open() {
        return new Reading(this);
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
        pieces.forEach(piece -> posix.unmap(piece.addressOffset(), PIECE_BYTES));
        pieces.clear();
    }

    /** One pass over the bytes. */
    private static final class Reading implements ReadableByteChannel {
        private final NativeBytes bytes;
        private long position;
        private boolean open = true;

        Reading(NativeBytes bytes) {
            this.bytes = bytes;
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
