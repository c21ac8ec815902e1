package dev.larder.server.source.arrow;

import dev.larder.error.LarderException;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceIdentity;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Reads parts of an Arrow file, little-endian, and refuses it. Not thread-safe; owns a descriptor. */
final class ArrowFile implements Closeable {
    private static final int STEP_BYTES = 64 << 10;

    private final SourceIdentity identity;
    private final Path shown;
    private final FileChannel channel;
    private final BatchBuffer whole;
    private long at;

    private ArrowFile(SourceIdentity identity, Path shown, FileChannel channel) {
        this.identity = identity;
        this.shown = shown;
        this.channel = channel;
        this.whole = new BatchBuffer(this, 0, identity.byteSize());
    }

    /** Opens a file. The caller closes it. */
    static ArrowFile open(SourceIdentity identity) {
        return open(identity, identity.file());
    }

    /** Opens a file; errors show another path. The caller closes it. */
    static ArrowFile open(SourceIdentity identity, Path shown) {
        try {
            return new ArrowFile(identity, shown, FileChannel.open(identity.file(), StandardOpenOption.READ));
        } catch (IOException e) {
            throw Refusal.unreadable(shown, 0, e);
        }
    }

    SourceIdentity identity() {
        return identity;
    }

    /** Returns the path that errors show. */
    Path shown() {
        return shown;
    }

    long byteSize() {
        return identity.byteSize();
    }

    /** Sets the offset of the message that is being read, which errors show. */
    void enter(long offset) {
        at = offset;
    }

    /** Returns the offset of the message that is being read. */
    long at() {
        return at;
    }

    /** Returns the refusal of the message that is being read. */
    LarderException refusal(String reason) {
        return Refusal.of(shown, at, reason);
    }

    /** Returns the refusal of a sound file in an unsupported form. */
    LarderException unread(String reason, String remedy) {
        return Refusal.unfit(shown, reason, remedy);
    }

    /** Reads a part of the file, valid until the next call. */
    ByteBuffer read(long offset, int length) {
        return whole.bytes(offset, length);
    }

    /** Fills the rest of a buffer, and flips it. Reads in steps, because the JDK caches only small direct buffers. */
    void read(long offset, ByteBuffer target) {
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
