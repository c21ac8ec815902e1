package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.posix.Posix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;

/**
 * One file of a version that is being written. Space is reserved before it is written. Several threads may write disjoint
 * stretches at once.
 */
public final class IncomingSegment implements AutoCloseable {
    /** Small enough to stay in a core's cache between reading, checksum and writing. */
    private static final int COPY_STEP_BYTES = 256 << 10;

    /** Reserved at once; between two steps a load can be cancelled. */
    private static final long RESERVE_STEP_BYTES = 64L << 20;

    private static final int WRITABLE = 0600;

    /** One direct buffer for each copying thread: they are few. */
    private static final ThreadLocal<ByteBuffer> STEP =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(COPY_STEP_BYTES));

    private final Posix posix;
    private final IncomingVersion version;
    private final Path path;
    private final long byteSize;
    private final int descriptor;
    private final FileChannel channel;

    private IncomingSegment(
            Posix posix, IncomingVersion version, Path path, long byteSize, int descriptor, FileChannel channel) {
        this.posix = posix;
        this.version = version;
        this.path = path;
        this.byteSize = byteSize;
        this.descriptor = descriptor;
        this.channel = channel;
    }

    /** Makes the file, with all its space. */
    static IncomingSegment create(Posix posix, IncomingVersion version, Path path, long byteSize) {
        int descriptor = posix.openOrCreate(path, WRITABLE);
        try {
            reserve(posix, version, path, byteSize, descriptor);
            FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE);
            return new IncomingSegment(posix, version, path, byteSize, descriptor, channel);
        } catch (IOException e) {
            posix.close(descriptor);
            throw Space.failed("cannot write an array", path, e);
        } catch (RuntimeException | Error e) {
            posix.close(descriptor);
            throw e;
        }
    }

    private static void reserve(Posix posix, IncomingVersion version, Path path, long byteSize, int descriptor) {
        try {
            for (long at = 0; at < byteSize; at += RESERVE_STEP_BYTES) {
                version.requireNotCancelled();
                posix.reserve(descriptor, at, Math.min(RESERVE_STEP_BYTES, byteSize - at));
            }
        } catch (LarderException e) {
            throw e.code() == ErrorCode.NO_SPACE ? full(version, path, byteSize, e) : e;
        }
    }

    private static LarderException full(IncomingVersion version, Path path, long byteSize, LarderException cause) {
        return Failure.of(ErrorCode.NO_SPACE, "the store's file system is full")
                .with("dataset", version.dataset())
                .with("file", path.getFileName())
                .with("needed", byteSize)
                .with("reason", cause.getMessage())
                .cause(cause)
                .remedy("evict datasets, or use a larger mount");
    }

    /** Returns how long the file is. */
    public long byteSize() {
        return byteSize;
    }

    /** Writes all of a buffer at a place. */
    public void write(long offset, ByteBuffer bytes) {
        try {
            long at = offset;
            while (bytes.hasRemaining()) {
                at += channel.write(bytes, at);
            }
        } catch (IOException e) {
            throw Space.failed("cannot write an array", path, e);
        }
    }

    /**
     * Copies exactly {@code length} bytes from a source to {@code offset}, and returns their CRC32C, computed in the same pass.
     *
     * @param data not closed here
     * @param onBytes told of every step
     */
    public int copy(ReadableByteChannel data, long offset, long length, LongConsumer onBytes) throws IOException {
        ByteBuffer step = STEP.get();
        CRC32C crc = new CRC32C();
        long copied = 0;
        while (copied < length) {
            version.requireNotCancelled();
            step.clear().limit((int) Math.min(step.capacity(), length - copied));
            if (data.read(step) < 0) {
                throw Failure.of(ErrorCode.BAD_INPUT, "source ends early")
                        .with("dataset", version.dataset())
                        .with("file", path.getFileName())
                        .with("offset", copied)
                        .with("expected", length)
                        .remedy("it was truncated, or changed while it was read");
            }
            int read = step.flip().remaining();
            crc.update(step.duplicate());
            write(offset + copied, step);
            copied += read;
            onBytes.accept(read);
        }
        return (int) crc.getValue();
    }

    /** Gives the finished file its permissions; nothing may be written after. */
    public void seal() {
        posix.changeMode(descriptor, version.fileMode());
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw Space.failed("cannot close an array", path, e);
        } finally {
            posix.close(descriptor);
        }
    }
}
