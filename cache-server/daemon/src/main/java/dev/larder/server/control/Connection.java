package dev.larder.server.control;

import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Answers;
import dev.larder.internal.protocol.Problem;
import dev.larder.message.MessageBudget;
import dev.larder.message.MessageReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection. As a {@link ActiveCall.Caller} it is used by any thread; all other methods belong to the control thread.
 *
 * <pre>
 *   IDLE ── call ──> WORKING ── answer ──> all sent ──> IDLE
 *     └──────────────────┴─ malformed, late ────────> LEAVING ──> all sent ──> closed
 * </pre>
 */
final class Connection implements ActiveCall.Caller {
    /** The stage of the exchange. */
    enum Stage {
        IDLE,
        WORKING,
        LEAVING
    }

    private final SocketChannel channel;
    private final SelectionKey key;
    private final Peer peer;
    private final ControlSettings settings;
    private final ConnectionEvents events;
    private final MessageReader reader;
    private final AtomicBoolean announced = new AtomicBoolean();

    private Stage stage = Stage.IDLE;
    private @Nullable ActiveCall call;
    private byte @Nullable [] finalMessage;
    private @Nullable ByteBuffer unsent;
    private long deadlineNanos;
    private boolean isMessageBegun;
    private boolean isInputEnded;
    private boolean hasCalled;

    private final Object lock = new Object();
    private @Nullable Attachment attachment;
    private @Nullable PeerProcess process;
    private boolean closed;

    Connection(
            SocketChannel channel,
            SelectionKey key,
            Peer peer,
            ControlSettings settings,
            MessageBudget budget,
            ConnectionEvents events) {
        this.reader = new MessageReader(budget);
        this.channel = channel;
        this.key = key;
        this.peer = peer;
        this.settings = settings;
        this.events = events;
        this.deadlineNanos = System.nanoTime() + settings.callTimeout().toNanos();
    }

    private record Attachment(Object value, boolean mayBeIdle, Runnable onClose) {}

    /** The server of connections. */
    interface ConnectionEvents {
        /** Reports that there is something to send; called on any thread. */
        void readyToSend(Connection connection);

        /** Reports that an action of a handler failed. */
        void failed(Throwable failure);
    }

    @Override
    public Peer peer() {
        return peer;
    }

    @Override
    public void readyToSend() {
        if (announced.compareAndSet(false, true)) {
            events.readyToSend(this);
        }
    }

    @Override
    public void failed(Throwable failure) {
        events.failed(failure);
    }

    @Override
    public void attach(Object value, boolean mayBeIdle, Runnable onClose) {
        synchronized (lock) {
            if (!closed) {
                attachment = new Attachment(value, mayBeIdle, onClose);
                if (process == null) {
                    process = PeerProcess.of(peer.pid());
                }
                return;
            }
        }
        run(onClose);
    }

    @Override
    public void detach() {
        synchronized (lock) {
            attachment = null;
        }
    }

    @Override
    public @Nullable Object attachment() {
        synchronized (lock) {
            return attachment == null ? null : attachment.value;
        }
    }

    Stage stage() {
        return stage;
    }

    /** Begins to work on a call. */
    ActiveCall begin(boolean wantsMore, boolean isOneway) {
        hasCalled = true;
        ActiveCall begun = new ActiveCall(this, wantsMore, isOneway);
        call = begun;
        enter(Stage.WORKING, settings.heartbeat().toNanos());
        return begun;
    }

    private void enter(Stage next, long nanos) {
        stage = next;
        deadlineNanos = System.nanoTime() + nanos;
    }

    /** Sends a refusal, drops all other messages, and ends the connection. */
    void endWith(Problem problem) {
        endWith(Answers.encodeOne(problem));
    }

    /** Sends a message, drops all others, and ends the connection. */
    void endWith(byte[] message) {
        if (stage != Stage.LEAVING) {
            finalMessage = message;
            enter(Stage.LEAVING, settings.stallTimeout().toNanos());
            key.interestOpsAnd(~SelectionKey.OP_READ);
        }
        readyToSend();
    }

    /**
     * Reads the bytes that have arrived. Returns false if the client has left. A client that has only closed its output still gets its
     * answers.
     */
    boolean read() throws IOException {
        boolean isThere = true;
        if (stage == Stage.LEAVING || (stage == Stage.WORKING && !reader.hasRoom())) {
            key.interestOpsAnd(~SelectionKey.OP_READ); // the call before has to be answered first
        } else if (reader.read(channel) < 0) {
            isInputEnded = true;
            isThere = !isHungUp();
            key.interestOpsAnd(~SelectionKey.OP_READ);
        }
        return isThere;
    }

    private boolean isHungUp() {
        return Posix.system().isHungUp(PeerPolicy.descriptor(channel));
    }

    /** Returns the next message, or null. */
    @Nullable
    ByteBuffer nextMessage() {
        ByteBuffer message = reader.next();
        boolean wasBegun = isMessageBegun;
        isMessageBegun = message == null && reader.hasBytes();
        if (message == null && isInputEnded) {
            enter(Stage.LEAVING, settings.stallTimeout().toNanos());
            readyToSend();
        } else if (isMessageBegun && !wasBegun) { // the rest of a message must arrive soon
            deadlineNanos = System.nanoTime() + settings.callTimeout().toNanos();
        }
        return message;
    }

    /** Returns the memory of a message to the budget, because its call may take long. */
    void releaseInput() {
        reader.releaseIfEmpty();
    }

    /** Returns the first bytes of a malformed message. */
    byte[] beginning(int most) {
        return reader.beginning(most);
    }

    /** Sends as many messages as the socket accepts now. Returns true if a call was answered, so that the next one may begin. */
    boolean flush(OutputBatch batch) throws IOException {
        announced.set(false);
        if (unsent != null) {
            channel.write(unsent);
            if (unsent.hasRemaining()) {
                return false;
            }
        }
        boolean wasBlocked = unsent != null;
        unsent = batch.write(this::poll, channel);
        boolean isAnswered = false;
        ActiveCall current = call;
        if (unsent != null) {
            boolean isInAnswer = wasBlocked && stage == Stage.WORKING && isAnswered();
            if (!isInAnswer) { // otherwise a slow reader could hold the turn of a list indefinitely
                deadlineNanos = System.nanoTime() + settings.stallTimeout().toNanos();
            }
        } else if (stage == Stage.WORKING && current != null && current.isDrained()) {
            call = null;
            current.sent();
            isMessageBegun = false;
            enter(Stage.IDLE, idleNanos());
            isAnswered = true;
        } else if (stage == Stage.WORKING) {
            enter(stage, settings.heartbeat().toNanos());
        } else if (wasBlocked && stage == Stage.LEAVING) {
            enter(stage, settings.stallTimeout().toNanos());
        }
        listen();
        return isAnswered;
    }

    /** Makes the selector wait for writing if there are bytes to send, and for reading if there is room for input. */
    private void listen() {
        boolean isReading = stage != Stage.LEAVING && !isInputEnded && !(stage == Stage.WORKING && !reader.hasRoom());
        int reading = isReading ? SelectionKey.OP_READ : 0;
        key.interestOps(unsent == null ? reading : reading | SelectionKey.OP_WRITE);
    }

    private byte @Nullable [] poll() {
        if (stage == Stage.LEAVING) {
            byte[] message = finalMessage;
            finalMessage = null;
            return message;
        }
        return call == null ? null : call.poll();
    }

    /** A connection that may be idle is checked from time to time; others end. */
    private long idleNanos() {
        Duration time = mayBeIdle() ? settings.heartbeat() : settings.idleTimeout();
        return time.toNanos();
    }

    private boolean mayBeIdle() {
        synchronized (lock) {
            return attachment != null && attachment.mayBeIdle;
        }
    }

    /** Returns whether the last message was sent. */
    boolean isFinished() {
        return stage == Stage.LEAVING && unsent == null && finalMessage == null;
    }

    /** Returns whether the client is late with a message or with reading an answer. Silence between calls is allowed. */
    boolean isLate() {
        return unsent != null || isMessageBegun || (stage == Stage.IDLE && !hasCalled);
    }

    /** Returns whether a handler has given its answer, sent or not. */
    boolean isAnswered() {
        ActiveCall current = call;
        return current == null || current.isAnswered();
    }

    /** Returns the time of the next check, by {@link System#nanoTime}. */
    long deadlineNanos() {
        return deadlineNanos;
    }

    /** Handles an expired deadline. Returns false if the connection must end. */
    boolean onDeadline() {
        if (unsent != null || isMessageBegun || stage == Stage.LEAVING) {
            return false;
        }
        ActiveCall current = call;
        if (stage == Stage.WORKING && current != null) {
            if (isHungUp()) {
                return false;
            }
            enter(Stage.WORKING, settings.heartbeat().toNanos());
            current.repeatProgress();
            readyToSend();
            return true;
        }
        PeerProcess client;
        synchronized (lock) {
            client = process;
        }
        boolean stays = mayBeIdle() && (client == null || !client.hasEnded());
        enter(Stage.IDLE, settings.heartbeat().toNanos());
        return stays;
    }

    /** Closes the channel, and ends the call and the attachment. */
    void close() {
        key.cancel();
        try {
            channel.close();
        } catch (IOException failure) {
            events.failed(failure);
        }
        ActiveCall current = call;
        if (current != null) {
            current.leave();
        }
        Attachment last;
        PeerProcess client;
        synchronized (lock) {
            closed = true;
            last = attachment;
            attachment = null;
            client = process;
        }
        if (last != null) {
            run(last.onClose);
        }
        if (client != null) {
            client.close();
        }
        reader.release();
    }

    private void run(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error failure) {
            events.failed(failure);
        }
    }
}
