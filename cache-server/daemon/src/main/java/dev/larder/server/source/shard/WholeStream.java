package dev.larder.server.source.shard;

import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.util.zip.CRC32C;

/** Reads all of an array from the start, little-endian, and knows its checksum at the end. */
final class WholeStream implements AutoCloseable {
    private static final int STEP_BYTES = 64 << 10;

    private final SourceArray array;
    private final ReadableByteChannel channel;
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer step =
            ByteBuffer.allocate(STEP_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private long unread;

    WholeStream(SourceArray array) {
        this.array = array;
        this.unread = array.byteSize();
        this.channel = array.open();
    }

    /** Returns the checksum of an array. */
    static int crc32c(SourceArray array) {
        try (WholeStream stream = new WholeStream(array)) {
            return stream.crc32c();
        }
    }

    long nextLong() {
        require(Long.BYTES);
        return step.getLong();
    }

    int nextInt() {
        require(Integer.BYTES);
        return step.getInt();
    }

    byte[] next(int length) {
        if (length < 0 || length > step.remaining() + unread) {
            throw endsEarly();
        }
        byte[] bytes = new byte[length];
        for (int at = 0; at < length; ) {
            require(1);
            int count = Math.min(length - at, step.remaining());
            step.get(bytes, at, count);
            at += count;
        }
        return bytes;
    }

    /** Returns the checksum of the whole array, once what is left has been read. */
    int crc32c() {
        while (unread > 0) {
            step.position(step.limit());
            require(1);
        }
        return (int) crc.getValue();
    }

    private void require(int count) {
        if (step.remaining() >= count) {
            return;
        }
        try {
            step.compact();
            int kept = step.position();
            step.limit((int) Math.min(step.capacity(), kept + unread));
            while (step.position() < count) {
                if (!step.hasRemaining() || channel.read(step) < 0) {
                    throw endsEarly();
                }
            }
            crc.update(step.array(), kept, step.position() - kept);
            unread -= step.position() - kept;
            step.flip();
        } catch (IOException e) {
            throw Refusal.unreadable(array.file(), 0, e);
        }
    }

    private RuntimeException endsEarly() {
        return Refusal.of(array.file(), 0, "it ends early: array=" + array.name());
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw Refusal.unreadable(array.file(), 0, e);
        }
    }
}
