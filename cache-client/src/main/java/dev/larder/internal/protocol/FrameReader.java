package dev.larder.internal.protocol;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.sbe.MessageHeaderDecoder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a stream of bytes into frames. Memory grows with what has come of a frame, never beyond the limit, nor beyond a budget that
 * several readers may share.
 *
 * <pre>
 *   +---------------+------------------------------------------+
 *   | int32  length | message header and body, `length` bytes  |
 *   +---------------+------------------------------------------+
 * </pre>
 *
 * <p>Used by one thread.
 */
public final class FrameReader {
    static final int LENGTH_BYTES = Integer.BYTES;
    private static final int INITIAL_CAPACITY = 1024;

    private final FrameBudget budget;
    private int maxLength;
    private ByteBuffer buffer = allocate(INITIAL_CAPACITY);
    private long takenBytes;
    private int start;

    /** Creates a reader that refuses frames above {@code maxLength} bytes, the length in front not counted. */
    public FrameReader(int maxLength) {
        this(maxLength, new FrameBudget(Long.MAX_VALUE));
    }

    /** Creates a reader whose memory, but for the first KiB, comes out of a budget; it has to be {@link #release}d. */
    public FrameReader(int maxLength, FrameBudget budget) {
        this.maxLength = maxLength;
        this.budget = budget;
    }

    /** Refuses frames above this length from now on. */
    public void limitTo(int newMaxLength) {
        maxLength = newMaxLength;
    }

    /** Gives the memory back. What has come and was not taken is lost. */
    public void release() {
        buffer = allocate(INITIAL_CAPACITY);
        start = 0;
        budget.giveBack(takenBytes);
        takenBytes = 0;
    }

    /** Takes what the channel has to give and returns the number of bytes, or -1 at its end. Take all frames first. */
    public int read(ReadableByteChannel channel) throws IOException {
        if (start > 0) {
            buffer.limit(buffer.position()).position(start);
            buffer.compact();
            start = 0;
        }
        return channel.read(buffer);
    }

    /** Returns the next whole frame, valid until the next {@link #read}, or null. A length out of range is an error. */
    public @Nullable ByteBuffer next() {
        int available = buffer.position() - start;
        if (available < LENGTH_BYTES) {
            return null;
        }
        int length = buffer.getInt(start);
        if (length < MessageHeaderDecoder.ENCODED_LENGTH || length > maxLength) {
            throw Failure.of(ErrorCode.BAD_INPUT, "malformed frame")
                    .with("length", length)
                    .with("limit", maxLength)
                    .remedy("only larder's own client should talk to the control socket");
        }
        if (available < LENGTH_BYTES + length) {
            reserve(Math.min(LENGTH_BYTES + length, 2 * available));
            return null;
        }
        ByteBuffer frame = buffer.slice(start + LENGTH_BYTES, length).order(ByteOrder.LITTLE_ENDIAN);
        start += LENGTH_BYTES + length;
        return frame;
    }

    private void reserve(int capacity) {
        if (buffer.capacity() - start >= capacity) {
            return;
        }
        int wanted = Math.max(capacity, buffer.capacity());
        if (!budget.tryTake(wanted)) {
            throw Failure.of(ErrorCode.REFUSED, "too many long requests at a time")
                    .with("bytes", wanted)
                    .remedy("try again in a moment");
        }
        ByteBuffer larger = allocateOrGiveBack(wanted);
        budget.giveBack(takenBytes);
        takenBytes = wanted;
        buffer.limit(buffer.position()).position(start);
        larger.put(buffer);
        buffer = larger;
        start = 0;
    }

    private ByteBuffer allocateOrGiveBack(int capacity) {
        try {
            return allocate(capacity);
        } catch (OutOfMemoryError e) {
            budget.giveBack(capacity);
            throw e;
        }
    }

    private static ByteBuffer allocate(int capacity) {
        return ByteBuffer.allocate(capacity).order(ByteOrder.LITTLE_ENDIAN);
    }
}
