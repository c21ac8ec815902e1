package dev.larder.server.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.function.LongConsumer;
import java.util.zip.Checksum;

/**
 * Fills a stretch of a segment from its beginning to its end. Belongs to one thread; others may fill other stretches meanwhile.
 * What is written is in the segment once {@link #finish} has returned.
 */
public final class SegmentWriter {
    /** Small enough that the checksum finds in the cache what was just read. */
    private static final long STEP_BYTES = 256 << 10;

    private final IncomingVersion version;
    private final Window window;
    private final long end;
    private long position;

    SegmentWriter(IncomingVersion version, Window window, long start, long end) {
        this.version = version;
        this.window = window;
        this.position = start;
        this.end = end;
    }

    /** Moves on; what lies between is zeros. */
    public void skipTo(long offset) {
        if (offset < position || offset > end) {
            throw new IllegalArgumentException("offset=" + offset + " position=" + position + " end=" + end);
        }
        if (offset >= window.end()) {
            window.moveTo(position, offset);
        } else {
            ByteBuffer gap = window.at(position, offset - position);
            while (gap.hasRemaining()) {
                gap.put((byte) 0);
            }
        }
        position = offset;
    }

    /** Writes all that remains of a buffer. */
    public void put(ByteBuffer bytes) {
        int last = bytes.limit();
        while (bytes.hasRemaining()) {
            ByteBuffer room = room(bytes.remaining());
            int step = room.remaining();
            room.put(bytes.limit(bytes.position() + step));
            bytes.limit(last);
            position += step;
        }
    }

    /**
     * Copies exactly so many bytes, and computes a checksum over them in the same pass.
     *
     * @param onBytes told of every step
     */
    public void copy(ReadableByteChannel data, long byteSize, Checksum checksum, LongConsumer onBytes)
            throws IOException {
        for (long left = byteSize; left > 0; ) {
            version.requireNotCancelled();
            ByteBuffer room = room(Math.min(left, STEP_BYTES));
            int start = room.position();
            int read = read(data, room);
            if (read < 1) {
                throw new IOException("it ends " + left + " bytes too early");
            }
            checksum.update(room.limit(start + read).position(start));
            position += read;
            left -= read;
            onBytes.accept(read);
        }
    }

    private static int read(ReadableByteChannel data, ByteBuffer room) throws IOException {
        int read;
        do {
            read = data.read(room);
        } while (read == 0);
        return read;
    }

    /**
     * Memory of the segment's next bytes.
     *
     * @param bytes from the first to the last of them
     * @param address where the first one is
     */
    public record Room(ByteBuffer bytes, long address) {}

    /**
     * Takes the next bytes, at most so many, for the caller to fill. Their memory is good until {@link #isRoomUsedUp} and more is taken, or
     * the writer finishes.
     */
    public Room take(long most) {
        version.requireNotCancelled();
        ByteBuffer bytes = room(most).slice();
        long address = window.addressOf(position);
        position += bytes.remaining();
        return new Room(bytes, address);
    }

    /** Tells whether the next step gives up the memory of those before: what was taken has to be filled by then. */
    public boolean isRoomUsedUp() {
        return position >= window.end();
    }

    private ByteBuffer room(long wanted) {
        if (wanted > end - position) {
            throw new IllegalArgumentException("wanted=" + wanted + " position=" + position + " end=" + end);
        }
        if (isRoomUsedUp()) {
            window.moveTo(position, position);
        }
        return window.at(position, wanted);
    }

    /** Sees to it that everything is in the segment. */
    public void finish() {
        window.finish(position);
    }
}
