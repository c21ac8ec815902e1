package dev.larder.server.control;

import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.FrameBudget;
import dev.larder.internal.protocol.FrameReader;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Response;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One client, from its connecting to its leaving. As a {@link Reply} it is used by any thread; all else belongs to the
 * control thread.
 *
 * <pre>
 *   GREETING ── Hello ──> ASKING ── request ──> WORKING ── Done, Problem ──> LEAVING ── all sent ──> closed
 *       └──────────────────┴─ garbage, too late ──────────────────────────────┘
 * </pre>
 */
final class Connection implements Reply {
    /** Where the exchange stands. */
    enum Stage {
        GREETING,
        ASKING,
        WORKING,
        LEAVING
    }

    private final SocketChannel channel;
    private final SelectionKey key;
    private final Peer peer;
    private final ControlSettings settings;
    private final ConnectionEvents events;
    private final FrameReader frames;
    private final Outbox outbox = new Outbox();
    private final AtomicBoolean announced = new AtomicBoolean();

    private Stage stage = Stage.GREETING;
    private @Nullable ByteBuffer unsent;
    private long deadlineNanos;
    private Progress lastProgress = Progress.of(Progress.Phase.WAITING, "", "");

    private final Object lock = new Object();
    private final List<Runnable> disconnectActions = new ArrayList<>();
    private final List<Runnable> endActions = new ArrayList<>();
    private final List<Runnable> closeActions = new ArrayList<>();
    private boolean disconnected;
    private boolean answered;

    Connection(
            SocketChannel channel,
            SelectionKey key,
            Peer peer,
            ControlSettings settings,
            FrameBudget budget,
            ConnectionEvents events) {
        this.frames = new FrameReader(Protocol.MAX_GREETING_LENGTH, budget);
        this.channel = channel;
        this.key = key;
        this.peer = peer;
        this.settings = settings;
        this.events = events;
        this.deadlineNanos = System.nanoTime() + settings.handshakeTimeout().toNanos();
    }

    /** What a connection tells its server. */
    interface ConnectionEvents {
        /** There is something to send; called on any thread. */
        void readyToSend(Connection connection);

        /** An action failed that others had left here. */
        void failed(Throwable failure);
    }

    @Override
    public Peer peer() {
        return peer;
    }

    @Override
    public void progress(Progress progress) {
        synchronized (lock) {
            lastProgress = progress;
        }
        announce(outbox.offer(progress, false));
    }

    @Override
    public void rows(List<? extends Response> rows) {
        announce(outbox.offer(rows));
    }

    @Override
    public void build(Build build) {
        announce(outbox.offer(build, false));
    }

    @Override
    public void status(DaemonStatus status) {
        announce(outbox.offer(status, false));
    }

    @Override
    public void done(Done done) {
        end(done);
    }

    @Override
    public void problem(Throwable failure) {
        end(Problem.of(failure));
    }

    @Override
    public void onDisconnect(Runnable action) {
        synchronized (lock) {
            if (!disconnected) {
                disconnectActions.add(action);
                return;
            }
        }
        run(action);
    }

    @Override
    public void onEnd(Runnable action) {
        synchronized (lock) {
            if (!disconnected && !answered) {
                endActions.add(action);
                return;
            }
        }
        run(action);
    }

    @Override
    public void onClosed(Runnable action) {
        synchronized (lock) {
            if (!disconnected) {
                closeActions.add(action);
                return;
            }
        }
        run(action);
    }

    @Override
    public boolean isConnected() {
        synchronized (lock) {
            return !disconnected && !outbox.isEnded();
        }
    }

    Stage stage() {
        return stage;
    }

    void enter(Stage next) {
        stage = next;
        frames.limitTo(next == Stage.ASKING ? Protocol.MAX_REQUEST_LENGTH : Protocol.MAX_GREETING_LENGTH);
        if (next == Stage.WORKING) {
            deadlineNanos = System.nanoTime() + settings.heartbeat().toNanos();
        } else if (next == Stage.LEAVING) {
            deadlineNanos = System.nanoTime() + settings.stallTimeout().toNanos();
        }
    }

    /** Sends something that no handler has asked for. */
    void send(Response response) {
        announce(outbox.offer(response, false));
    }

    /** Drops what is waiting, and ends the exchange. */
    void endWith(Response response) {
        outbox.endWith(response);
        enter(Stage.LEAVING);
        announce(true);
    }

    /** Reads what has come; false where the client has left. */
    boolean read() throws IOException {
        return frames.read(channel) >= 0;
    }

    /** Gives the memory of what was read back, once the request is understood: its answer may take long. */
    void releaseInput() {
        frames.release();
    }

    /** Returns the next frame, or null. */
    @Nullable
    ByteBuffer nextFrame() {
        return frames.next();
    }

    /** Sends what can be sent now. */
    void flush(OutputBatch batch) throws IOException {
        announced.set(false);
        if (unsent != null) {
            channel.write(unsent);
            if (unsent.hasRemaining()) {
                return;
            }
        }
        boolean wasBlocked = unsent != null;
        unsent = batch.write(outbox, channel);
        int reading = stage == Stage.LEAVING ? 0 : SelectionKey.OP_READ;
        key.interestOps(unsent == null ? reading : reading | SelectionKey.OP_WRITE);
        if (unsent != null) {
            deadlineNanos = System.nanoTime() + settings.stallTimeout().toNanos();
        } else if (wasBlocked || stage == Stage.WORKING) {
            enter(stage);
        }
    }

    /** Tells whether the exchange has ended and the client has been told. */
    boolean isFinished() {
        return unsent == null && outbox.isDrained();
    }

    /** Tells whether a handler has given its answer, sent or not. */
    boolean isAnswered() {
        return outbox.isEnded();
    }

    /** Returns when something has to happen if nothing comes before, by {@link System#nanoTime}. */
    long deadlineNanos() {
        return deadlineNanos;
    }

    /** Does what is due; false where the client has had its time. */
    boolean onDeadline() {
        if (stage != Stage.WORKING || unsent != null) {
            return false;
        }
        enter(Stage.WORKING);
        Progress again;
        synchronized (lock) {
            again = lastProgress;
        }
        send(again);
        return true;
    }

    /** Closes the channel, and tells whoever works for this client unless they have answered. */
    void close() {
        outbox.abandon();
        frames.release();
        key.cancel();
        try {
            channel.close();
        } catch (IOException failure) {
            events.failed(failure);
        }
        List<Runnable> actions;
        synchronized (lock) {
            disconnected = true;
            actions = new ArrayList<>(answered ? List.of() : disconnectActions);
            actions.addAll(closeActions);
            disconnectActions.clear();
            closeActions.clear();
        }
        actions.forEach(this::run);
        runEndActions();
    }

    private void end(Response response) {
        synchronized (lock) {
            answered = true;
        }
        announce(outbox.offer(response, true));
        runEndActions();
    }

    private void runEndActions() {
        List<Runnable> actions;
        synchronized (lock) {
            actions = List.copyOf(endActions);
            endActions.clear();
        }
        actions.forEach(this::run);
    }

    private void announce(boolean accepted) {
        if (accepted && announced.compareAndSet(false, true)) {
            events.readyToSend(this);
        }
    }

    private void run(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error failure) {
            events.failed(failure);
        }
    }
}
