package dev.larder.message;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a stream of bytes into messages. Memory grows with the bytes that have arrived, up to the limit of a message, and within a
 * budget that several readers may share.
 *
 * <pre>
 *   +---------------------------------+---+---------------------+---+
 *   | {"method":"…","parameters":{…}} | 0 | {"method":"…"}      | 0 |
 *   +---------------------------------+---+---------------------+---+
 * </pre>
 *
 * <p>Used by one thread.
 */
public final class MessageReader {
    private static final int INITIAL_CAPACITY = 1024;
    private static final ByteBuffer NONE = ByteBuffer.allocate(0);

    private final MessageBudget budget;
    private final int maxBytes;
    private ByteBuffer buffer = NONE;
    private long takenBytes;
    private int start;
    private int scanned;

    /** Creates a reader. The length of a message is the only bound of its memory. */
    public MessageReader() {
        this(Messages.MAX_BYTES);
    }

    /** Creates a reader of messages with at most this many bytes, which is the only bound of its memory. */
    public MessageReader(int maxBytes) {
        this(new MessageBudget(Long.MAX_VALUE), maxBytes);
    }

    /** Creates a reader that takes its memory, except for the first KiB, from a budget; {@link #release} returns it. */
    public MessageReader(MessageBudget budget) {
        this(budget, Messages.MAX_BYTES);
    }

    private MessageReader(MessageBudget budget, int maxBytes) {
        this.budget = budget;
        this.maxBytes = maxBytes;
    }

    /** Returns the memory to the budget. Loses the bytes of its buffer. */
    public void release() {
        buffer = NONE;
        start = 0;
        scanned = 0;
        budget.giveBack(takenBytes);
        takenBytes = 0;
    }

    /** Returns the memory to the budget if no byte is left. */
    public void releaseIfEmpty() {
        if (takenBytes > 0 && !hasBytes()) {
            release();
        }
    }

    /** Returns whether there are bytes that no message was taken from. */
    public boolean hasBytes() {
        return buffer.position() > start;
    }

    /** Returns whether bytes can be read without more memory. */
    public boolean hasRoom() {
        return buffer.position() - start < Math.max(buffer.capacity(), INITIAL_CAPACITY);
    }

    /** Reads the bytes that a channel has, and returns their number; -1 at its end. */
    public int read(ReadableByteChannel channel) throws IOException {
        makeRoom();
        return channel.read(buffer);
    }

    private void makeRoom() {
        if (start > 0) {
            buffer.limit(buffer.position()).position(start);
            buffer.compact();
            scanned -= start;
            start = 0;
        }
        if (!buffer.hasRemaining()) {
            grow();
        }
    }

    /**
     * Waits for the next message of a stream, and returns it without its NUL byte, valid until the next call.
     *
     * @throws BadMessage as {@link #next()} does
     * @throws EOFException if the stream has ended
     */
    public ByteBuffer next(InputStream in) throws IOException {
        for (ByteBuffer message = next(); ; message = next()) {
            if (message != null) {
                return message;
            }
            makeRoom();
            int count = in.read(buffer.array(), buffer.position(), buffer.remaining());
            if (count < 0) {
                throw new EOFException(hasBytes() ? "the stream ended within a message" : "the stream ended");
            }
            buffer.position(buffer.position() + count);
        }
    }

    /**
     * Returns the next whole message without its NUL byte, valid until the next {@link #read}; null if it has not arrived.
     *
     * @throws BadMessage if it is too long, or does not begin as a JSON object does
     */
    public @Nullable ByteBuffer next() {
        if (hasBytes() && buffer.get(start) != '{') {
            throw new BadMessage("", "it does not begin with {");
        }
        byte[] bytes = buffer.array();
        int end = (int) Math.min(buffer.position(), start + maxBytes + 1L);
        int at = scanned;
        while (at < end && bytes[at] != 0) {
            at++;
        }
        scanned = at;
        if (at < end) {
            ByteBuffer message = buffer.slice(start, at - start);
            start = ++scanned;
            return message;
        } else if (at - start > maxBytes) {
            throw new BadMessage("", "it is longer than " + maxBytes + " bytes");
        }
        return null;
    }

    /** Returns the first unread bytes of the buffer, at most this many. */
    public byte[] beginning(int most) {
        byte[] bytes = new byte[Math.min(most, buffer.position() - start)];
        buffer.get(start, bytes);
        return bytes;
    }

    private void grow() {
        if (buffer.capacity() == 0) {
            buffer = ByteBuffer.allocate(INITIAL_CAPACITY);
            return;
        }
        int capacity = Math.min(2 * buffer.capacity(), maxBytes + INITIAL_CAPACITY);
        if (!budget.tryTake(capacity)) {
            throw new MessageBudget.Exhausted(capacity);
        }
        ByteBuffer larger = allocateOrGiveBack(capacity);
        budget.giveBack(takenBytes);
        takenBytes = capacity;
        larger.put(buffer.flip());
        buffer = larger;
    }

    private ByteBuffer allocateOrGiveBack(int capacity) {
        try {
            return ByteBuffer.allocate(capacity);
        } catch (OutOfMemoryError e) {
            budget.giveBack(capacity);
            throw e;
        }
    }
}
