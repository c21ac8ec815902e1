package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.protocol.Answers;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.time.Deadline;
import dev.larder.message.MessageBudget;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The control thread: waits for an event, handles it, and waits again. */
final class ControlLoop implements Runnable, Connection.ConnectionEvents {
    private static final long ACCEPT_PAUSE_NANOS = 100_000_000;

    /** Incomplete requests take at most one part in this many of the heap, for the owner and for the members each. */
    private static final int HEAP_PARTS = 12;

    /** Reading a long message takes longer; then the next connection waits for the next round. */
    private static final long LONGEST_SERVING_NANOS = 10_000_000;

    /** The most that are accepted in one round, so that new clients do not delay the others. */
    private static final int MOST_ACCEPTED = 64;

    /** After this many failures in succession, the thread ends. */
    private static final int MOST_FAILED_TURNS = 100;

    private static final Logger LOG = LoggerFactory.getLogger(ControlLoop.class);

    private final ControlSettings settings;
    private final SelectionKey accepting;
    private final Selector selector;
    private final PeerPolicy peers;
    private final UserQuota seats;

    /** The owner has a separate budget, so that no member can use it up. */
    private final MessageBudget ownerBudget =
            new MessageBudget(Runtime.getRuntime().maxMemory() / HEAP_PARTS);

    private final MessageBudget memberBudget =
            new MessageBudget(Runtime.getRuntime().maxMemory() / HEAP_PARTS);
    private final Dispatcher dispatcher;
    private final Counters counters;
    private final ErrorLog errors;
    private final OutputBatch batch = new OutputBatch();
    private final Set<Connection> connections = new HashSet<>();
    private final Queue<Connection> ready = new ConcurrentLinkedQueue<>();

    /** Connections that may have sent something. They take turns, because a long message takes long to read. */
    private final Turns<Connection> readable = new Turns<>(Connection::peer);

    private final AtomicBoolean linked = new AtomicBoolean(true);

    /** Identifies the socket file: a later file with its name may be another daemon's. */
    private final @Nullable Object socketFile;

    private volatile boolean stopping;
    private int failedTurns;
    private boolean acceptPaused;
    private long acceptAgainNanos;

    ControlLoop(
            ControlSettings settings,
            SelectionKey accepting,
            PeerPolicy peers,
            Dispatcher dispatcher,
            Counters counters,
            ErrorLog errors)
            throws IOException {
        this.settings = settings;
        this.accepting = accepting;
        this.selector = accepting.selector();
        this.peers = peers;
        this.seats = new UserQuota(
                "too many connections",
                settings.maxConnections(),
                "try again when some of the waiting clients have finished");
        this.dispatcher = dispatcher;
        this.counters = counters;
        this.errors = errors;
        this.socketFile = fileAt(settings.socket());
    }

    private static @Nullable Object fileAt(Path path) throws IOException {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    @Override
    public void run() {
        try {
            while (!stopping) {
                turnOrRecord();
            }
            drain();
        } catch (IOException | RuntimeException | Error failure) {
            failed(failure);
        } finally {
            stopListening();
            List.copyOf(connections).forEach(this::drop);
            closeQuietly(selector);
        }
    }

    /** Runs one round. A failure, such as a full heap, must not end the only thread that answers clients. */
    private void turnOrRecord() throws IOException {
        try {
            turn(nanosToNextDeadline());
            failedTurns = 0;
        } catch (RuntimeException | Error failure) {
            failed(failure);
            if (++failedTurns == MOST_FAILED_TURNS) {
                throw failure;
            }
        }
    }

    /** Makes the thread end soon. */
    void stop() {
        stopping = true;
        selector.wakeup();
    }

    @Override
    public void readyToSend(Connection connection) {
        ready.add(connection);
        selector.wakeup();
    }

    @Override
    public void failed(Throwable failure) {
        try {
            errors.record(failure);
        } catch (RuntimeException | Error e) {
            LOG.error("a failure could not be recorded: {}", Failure.words(failure)); // such as for lack of memory
        }
    }

    static void closeQuietly(@Nullable AutoCloseable resource) {
        try {
            if (resource != null) {
                resource.close();
            }
        } catch (Exception ignored) {
            // closed all the same
        }
    }

    private void turn(long waitNanos) throws IOException {
        if (waitNanos <= 0 || !readable.isEmpty()) {
            selector.selectNow();
        } else if (waitNanos == Long.MAX_VALUE) {
            selector.select();
        } else {
            selector.select(waitNanos / 1_000_000 + 1);
        }
        for (SelectionKey key : selector.selectedKeys()) {
            if (key.equals(accepting)) {
                acceptSome();
            } else if (key.attachment() instanceof Connection connection) {
                if (key.isValid() && key.isReadable()) {
                    readable.add(connection);
                }
                if (key.isValid() && key.isWritable()) {
                    flush(connection);
                }
            }
        }
        selector.selectedKeys().clear();
        serveReadable();
        flushReady();
        checkDeadlines();
    }

    /** Serves each connection that has sent something once, or as many as fit into the time of a round. */
    private void serveReadable() {
        long begin = System.nanoTime();
        Connection next = readable.first(connection -> true);
        while (next != null) {
            readable.take(next);
            serve(next);
            next = System.nanoTime() - begin < LONGEST_SERVING_NANOS ? readable.first(connection -> true) : null;
        }
    }

    private void serve(Connection connection) {
        try {
            if (!dispatcher.read(connection)) {
                drop(connection);
            }
        } catch (IOException clientIsGone) {
            drop(connection);
        } catch (RuntimeException | Error failure) {
            failed(failure);
            drop(connection);
        }
    }

    private void flushReady() {
        for (Connection next = ready.poll(); next != null; next = ready.poll()) {
            if (connections.contains(next)) {
                flush(next);
            }
        }
    }

    private void flush(Connection connection) {
        try {
            if (connection.flush(batch) && !stopping) {
                readable.add(connection); // the next call may have arrived
            }
        } catch (IOException clientIsGone) {
            drop(connection);
            return;
        } catch (RuntimeException | Error failure) {
            failed(failure);
            connection.endWith(Problem.of(failure));
            return;
        }
        if (connection.isFinished()) {
            drop(connection);
        }
    }

    private void checkDeadlines() {
        long now = System.nanoTime();
        List<Connection> late = new ArrayList<>();
        for (Connection connection : connections) {
            boolean isInQueue = connection.stage() == Connection.Stage.IDLE && readable.contains(connection);
            if (!isInQueue && connection.deadlineNanos() - now <= 0 && !connection.onDeadline()) {
                late.add(connection);
            }
        }
        for (Connection connection : late) {
            if (connection.isLate()) {
                counters.increment(Counter.PROTOCOL_ERRORS);
            }
            drop(connection);
        }
        if (acceptPaused && acceptAgainNanos - now <= 0) {
            acceptPaused = false;
            accepting.interestOps(SelectionKey.OP_ACCEPT);
        }
    }

    private long nanosToNextDeadline() {
        long now = System.nanoTime();
        long least = acceptPaused ? acceptAgainNanos - now : Long.MAX_VALUE;
        for (Connection connection : connections) {
            least = Math.min(least, connection.deadlineNanos() - now);
        }
        return least;
    }

    private void acceptSome() {
        try {
            ServerSocketChannel listener = (ServerSocketChannel) accepting.channel();
            SocketChannel channel = listener.accept();
            for (int count = 1; channel != null; count++) {
                admit(channel);
                channel = count == MOST_ACCEPTED ? null : listener.accept();
            }
        } catch (IOException noDescriptorLeft) {
            failed(noDescriptorLeft);
            acceptPaused = true;
            acceptAgainNanos = System.nanoTime() + ACCEPT_PAUSE_NANOS;
            accepting.interestOps(0);
        }
    }

    private void admit(SocketChannel channel) {
        try {
            channel.configureBlocking(false);
            Peer peer = peers.admit(channel);
            seats.take(peer);
            boolean isSeated = false;
            try {
                SelectionKey key = channel.register(
                        selector, SelectionKey.OP_READ); // only now, because the key holds the descriptor
                Connection connection =
                        new Connection(channel, key, peer, settings, peer.isOwner() ? ownerBudget : memberBudget, this);
                key.attach(connection);
                isSeated = connections.add(connection);
            } finally {
                if (!isSeated) {
                    seats.release(peer);
                    closeQuietly(channel);
                }
            }
            counters.set(Counter.CONNECTIONS, connections.size());
        } catch (LarderException refused) {
            counters.increment(Counter.PROTOCOL_ERRORS);
            refuse(channel, refused);
        } catch (IOException clientIsGone) {
            closeQuietly(channel);
        }
    }

    private static void refuse(SocketChannel channel, LarderException reason) {
        try (channel) {
            channel.write(ByteBuffer.wrap(Answers.encodeOne(Problem.of(reason))));
        } catch (IOException ignored) {
            // the client has left already
        }
    }

    private void drop(Connection connection) {
        readable.remove(connection);
        if (connections.remove(connection)) {
            counters.set(Counter.CONNECTIONS, connections.size());
            seats.release(connection.peer());
            connection.close();
        }
    }

    /** Sends the remaining answers, for a limited time. */
    private void drain() throws IOException {
        stopListening();
        serveReadable();
        LarderException stopped = Failure.of(ErrorCode.NO_DAEMON, "the daemon is stopping")
                .with("socket", settings.socket())
                .remedy(Remedy.START_DAEMON);
        for (Connection connection : connections) {
            boolean isWaiting = connection.stage() == Connection.Stage.WORKING && !connection.isAnswered();
            if (isWaiting || (connection.stage() == Connection.Stage.IDLE && connection.attachment() != null)) {
                connection.endWith(Problem.of(stopped));
            }
        }
        Deadline deadline = Deadline.after(settings.closeTimeout());
        flushReady();
        connections.removeIf(this::closeIfIdle);
        while (!connections.isEmpty() && !deadline.isOver()) {
            turn(Math.min(deadline.remainingNanos(), nanosToNextDeadline()));
            connections.removeIf(this::closeIfIdle);
        }
    }

    private boolean closeIfIdle(Connection connection) {
        boolean isIdle = connection.stage() == Connection.Stage.IDLE;
        if (isIdle) {
            readable.remove(connection);
            connection.close();
        }
        return isIdle;
    }

    private void stopListening() {
        acceptPaused = false;
        closeQuietly(accepting.channel());
        try {
            unlinkSocket();
        } catch (IOException failure) {
            errors.record(failure);
        }
    }

    /** Removes the socket file, once, and only if it is ours. */
    void unlinkSocket() throws IOException {
        boolean isFirst = linked.compareAndSet(true, false);
        if (isFirst && Objects.equals(socketFile, fileAt(settings.socket()))) {
            Files.deleteIfExists(settings.socket());
        }
    }
}
