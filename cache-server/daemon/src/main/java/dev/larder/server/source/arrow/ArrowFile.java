package dev.larder.server.source.arrow;

import dev.larder.error.LarderException;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceIdentity;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** Reads stretches of an Arrow file; all that is read is little-endian. Not thread-safe; owns a descriptor. */
final class ArrowFile implements Closeable {
    private static final int LEAST_WINDOW_BYTES = 2 << 10;
    private static final int MOST_WINDOW_BYTES = 16 << 10;

    /** A header lies behind two numbers, which are read before. */
    private static final int HEAD_BYTES = 2 * Integer.BYTES;

    private static final int STEP_BYTES = 64 << 10;

    private final SourceIdentity identity;

    /** What is told of in place of the file that is read. */
    private final Path told;

    private final FileChannel channel;
    private final @Nullable UnpackedBuffers unpacked;
    private ByteBuffer window = ByteBuffer.allocate(0);
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private int windowBytes = LEAST_WINDOW_BYTES;
    private long windowOffset;
    private long at;

    private ArrowFile(SourceIdentity identity, Path told, @Nullable UnpackedBuffers unpacked) throws IOException {
        this.identity = identity;
        this.told = told;
        this.unpacked = unpacked;
        this.channel = FileChannel.open(identity.file(), StandardOpenOption.READ);
    }

    /** Opens a file that has been looked at. The caller closes it. */
    static ArrowFile open(SourceIdentity identity) {
        return open(identity, identity.file(), null);
    }

    /**
     * Opens a file that has been looked at. The caller closes it.
     *
     * @param told the file that is told of in its place
     * @param unpacked where its buffers are if they are packed; null where that is not known
     */
    static ArrowFile open(SourceIdentity identity, Path told, @Nullable UnpackedBuffers unpacked) {
        try {
            return new ArrowFile(identity, told, unpacked);
        } catch (IOException e) {
            throw Refusal.unreadable(told, 0, e);
        }
    }

    /** Returns where packed buffers are; null where that is not known. */
    @Nullable
    UnpackedBuffers unpacked() {
        return unpacked;
    }

    /** Enters the message that another file has entered. */
    void enterAs(ArrowFile other) {
        at = other.at;
    }

    SourceIdentity identity() {
        return identity;
    }

    long byteSize() {
        return identity.byteSize();
    }

    /** Notes where the message begins that is being read, for what is said about it. */
    void enter(long offset) {
        at = offset;
    }

    /** Says what is wrong with the message that is being read. */
    LarderException refusal(String reason) {
        return Refusal.of(told, at, reason);
    }

    /** Returns the refusal of a column. */
    ArrowColumn.Unfit unfit(String column, String reason) {
        return new ArrowColumn.Unfit(told, column, reason);
    }

    /** Returns the refusal of a sound file that is written in a way that is not read. */
    LarderException unread(String reason, String remedy) {
        return Refusal.unfit(told, reason, remedy);
    }

    /** Reads a stretch, which must lie in the file. What is returned is good until the next call. */
    ByteBuffer read(long offset, int length) {
        if (offset < windowOffset || offset + length > windowOffset + window.limit()) {
            int wanted = (int) Math.min(Math.max(length, windowBytes), byteSize() - offset);
            window = wanted <= window.capacity() ? window.clear().limit(wanted) : ByteBuffer.allocate(wanted);
            windowOffset = offset;
            read(offset, window);
        }
        if (length > HEAD_BYTES) { // a header, and the next one will be as long
            windowBytes = Math.max(LEAST_WINDOW_BYTES, Math.min(MOST_WINDOW_BYTES, length + HEAD_BYTES));
        }
        return window.slice((int) (offset - windowOffset), length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Reads one number of 4 or 8 bytes. */
    long number(long offset, int width) {
        read(offset, number.clear().limit(width));
        return width == Integer.BYTES ? number.getInt(0) : number.getLong(0);
    }

    /** Fills what remains of a buffer from an offset on, and flips it. */
    void read(long offset, ByteBuffer target) {
        read(channel, identity, offset, target);
    }

    /** Fills what remains of a buffer from an offset on, in steps for which the JDK keeps small buffers, and flips it. */
    static void read(FileChannel channel, SourceIdentity identity, long offset, ByteBuffer target) {
        int limit = target.limit();
        try {
            long from = offset - target.position();
            while (target.position() < limit) {
                target.limit(Math.min(limit, target.position() + STEP_BYTES));
                if (channel.read(target, from + target.position()) < 0) {
                    throw Refusal.changed(identity.file());
                }
                target.limit(limit);
            }
        } catch (IOException e) {
            throw Refusal.unreadable(identity.file(), offset, e);
        }
        target.flip();
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw Refusal.unreadable(identity.file(), 0, e);
        }
    }
}
