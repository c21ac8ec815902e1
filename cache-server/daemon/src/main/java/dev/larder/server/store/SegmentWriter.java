package dev.larder.server.store;

import dev.larder.internal.posix.ScatterList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.function.LongConsumer;
import java.util.zip.Checksum;

/**
 * Fills consecutive bytes of a segment from the first to the last. Shows some of them at a time as memory, and never goes back. Belongs
 * to one thread; others may fill other bytes meanwhile. The bytes are in the segment once {@link #finish} has returned.
 */
public abstract sealed class SegmentWriter permits MappedWriter, BufferedWriter {
    /** Small enough that the checksum finds the bytes of the last read in the cache. */
    private static final long STEP_BYTES = 256 << 10;

    private final IncomingSegment segment;
    private final long end;
    private long position;
    private ByteBuffer shown = ByteBuffer.allocate(0);
    private long shownAddress;
    private long shownStart;

    SegmentWriter(IncomingSegment segment, long start, long end) {
        this.segment = segment;
        this.position = start;
        this.end = end;
    }

    final IncomingSegment segment() {
        return segment;
    }

    final long position() {
        return position;
    }

    final long end() {
        return end;
    }

    final long shownStart() {
        return shownStart;
    }

    /** Sets the buffer for the bytes from {@code start}, and its address. */
    final void show(ByteBuffer memory, long address, long start) {
        shown = memory;
        shownAddress = address;
        shownStart = start;
    }

    /** Sets the buffer for the byte at {@code offset}. Releases the earlier buffer, which is filled up to its position. */
    abstract void showNext(long offset);

    /** Writes the bytes that are not yet in the segment. */
    public abstract void finish();

    /** Returns whether the byte at an offset can be filled without giving up the memory of the bytes before. */
    public final boolean shows(long offset) {
        return offset >= shownStart && offset < shownStart + shown.capacity();
    }

    /** Moves forward. The bytes between are zeros. */
    public final void skipTo(long offset) {
        if (offset < position || offset > end) {
            throw new IllegalArgumentException("offset=" + offset + " position=" + position + " end=" + end);
        }
        if (offset == position) {
            return;
        }
        if (shows(offset)) {
            ByteBuffer gap = next(offset - position);
            while (gap.hasRemaining()) {
                gap.put((byte) 0);
            }
        } else {
            showNext(offset);
        }
        position = offset;
    }

    /** Writes the remaining bytes of a buffer. */
    public final void put(ByteBuffer bytes) {
        int last = bytes.limit();
        while (bytes.hasRemaining()) {
            ByteBuffer memory = next(bytes.remaining());
            int step = memory.remaining();
            memory.put(bytes.limit(bytes.position() + step));
            bytes.limit(last);
            position += step;
        }
    }

    /**
     * Copies exactly {@code byteSize} bytes, and updates a checksum in the same pass.
     *
     * @param onBytes accepts the number of bytes of every step
     */
    public final void copy(ReadableByteChannel data, long byteSize, Checksum checksum, LongConsumer onBytes)
            throws IOException {
        for (long left = byteSize; left > 0; ) {
            segment.requireNotCancelled();
            ByteBuffer memory = next(Math.min(left, STEP_BYTES));
            int start = memory.position();
            int read = read(data, memory);
            if (read < 1) {
                throw new IOException("it ends " + left + " bytes too early");
            }
            checksum.update(memory.limit(start + read).position(start));
            position += read;
            left -= read;
            onBytes.accept(read);
        }
    }

    private static int read(ReadableByteChannel data, ByteBuffer memory) throws IOException {
        int read;
        do {
            read = data.read(memory);
        } while (read == 0);
        return read;
    }

    /**
     * Returns the memory for the next bytes, at most {@code most}, and adds it to the list that a read fills. It is valid until the writer
     * shows other memory, or until {@link #finish}.
     */
    public final ByteBuffer take(long most, ScatterList read) {
        segment.requireNotCancelled();
        ByteBuffer memory = next(most).slice();
        read.add(shownAddress + (position - shownStart), memory.remaining());
        position += memory.remaining();
        return memory;
    }

    /** Returns the shown buffer, from the position to at most {@code most} bytes after it. */
    private ByteBuffer next(long most) {
        if (most > end - position) {
            throw new IllegalArgumentException("most=" + most + " position=" + position + " end=" + end);
        }
        if (!shows(position)) {
            showNext(position);
        }
        int start = (int) (position - shownStart);
        return shown.limit((int) Math.min(shown.capacity(), start + most)).position(start);
    }
}
