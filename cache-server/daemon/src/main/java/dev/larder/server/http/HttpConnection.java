package dev.larder.server.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One client: sends the head of a request, receives an answer, and is closed. Used by the listener's thread only.
 *
 * <pre>READING ── whole head ──> ANSWERING ── answer ──> WRITING ── all sent ──> LEAVING ── client closes ──> closed</pre>
 */
final class HttpConnection {
    private static final int LONGEST_HEAD = 16 * 1024;
    private static final int FIRST_LENGTH = 1024;
    private static final byte[] END = {'\r', '\n', '\r', '\n'};

    /** The stages of the exchange. */
    enum Stage {
        READING,
        ANSWERING,
        WRITING,
        LEAVING
    }

    private final SocketChannel channel;
    private final SelectionKey key;
    private Stage stage = Stage.READING;
    private long deadlineNanos;
    private ByteBuffer input = ByteBuffer.allocate(FIRST_LENGTH);
    private @Nullable ByteBuffer output;

    /** The offset at which the search for the end of the head continues. */
    private int searched;

    HttpConnection(SocketChannel channel, SelectionKey key, long deadlineNanos) {
        this.channel = channel;
        this.key = key;
        this.deadlineNanos = deadlineNanos;
    }

    /** Returns the deadline of the current stage, by {@link System#nanoTime}. */
    long deadlineNanos() {
        return deadlineNanos;
    }

    Stage stage() {
        return stage;
    }

    /** Returns whether another client may take its place, because no complete request waits for its answer. */
    boolean mayBeDropped() {
        return stage == Stage.READING || stage == Stage.LEAVING;
    }

    /** Reads the bytes that have arrived; false if the client has left. */
    boolean read() throws IOException {
        if (stage != Stage.READING) {
            input.clear(); // bodies are ignored
            return channel.read(input) >= 0;
        }
        if (!input.hasRemaining()) {
            input = ByteBuffer.allocate(Math.min(2 * input.capacity(), LONGEST_HEAD))
                    .put(input.flip());
        }
        return channel.read(input) >= 0;
    }

    /** Returns whether the head of the request is longer than allowed. */
    boolean isTooLong() {
        return head() == null && input.position() == LONGEST_HEAD;
    }

    /** Returns the head of the request without the empty line; null until it is whole. */
    @Nullable
    String head() {
        byte[] bytes = input.array();
        while (searched + END.length <= input.position()) {
            if (Arrays.equals(bytes, searched, searched + END.length, END, 0, END.length)) {
                return new String(bytes, 0, searched, StandardCharsets.ISO_8859_1);
            }
            searched++;
        }
        return null;
    }

    void awaitAnswer() {
        stage = Stage.ANSWERING;
        key.interestOps(0);
    }

    /** Begins to send the answer. */
    void answer(ByteBuffer answer, long deadline) {
        stage = Stage.WRITING;
        deadlineNanos = deadline;
        output = answer;
        key.interestOps(SelectionKey.OP_WRITE);
    }

    /**
     * Sends as much as the client accepts. After the last byte, waits for the client to close: unread input at a close would reset the
     * connection, and lose the answer.
     */
    void write(long deadline) throws IOException {
        ByteBuffer rest = output;
        if (rest != null && channel.write(rest) > 0) {
            deadlineNanos = deadline;
        }
        if (rest == null || !rest.hasRemaining()) {
            output = null;
            channel.shutdownOutput();
            stage = Stage.LEAVING;
            key.interestOps(SelectionKey.OP_READ);
        }
    }

    void close() {
        key.cancel();
        try {
            channel.close();
        } catch (IOException ignored) {
            // closed all the same
        }
    }
}
