package dev.larder.cluster;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import dev.larder.launch.process.RunningRanks;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Launches ranks on several nodes: one of these runs on each of them, as {@code torchrun}'s agents do. They meet at an endpoint; the
 * node whose address that is leads the run, as node 0. All start their ranks at the same time. When a rank fails, or a node is lost, all
 * end their ranks, and start again with the nodes that are left where the run allows that.
 *
 * <p>Where the leader is lost, all others end their ranks and say so: whoever started the run starts it again.
 *
 * <p>Ranks, and whatever they start, end with this process, however that ends. Whoever starts a launch closes it. Thread-safe.
 */
public final class NodeLaunch implements RunningRanks, AutoCloseable {
    private static final Duration CLOSING = Duration.ofSeconds(30);
    private static final Duration NOTICE = Duration.ofSeconds(3);

    private final NodeOptions options;
    private final NodeListener listener;
    private final CompletableFuture<NodeResult> result = new CompletableFuture<>();
    private final NodeRanks ranks;
    private final Thread thread;
    private final Object dataTurn = new Object();
    private volatile @Nullable NodeLink link;
    private volatile @Nullable StopKind stop;

    private NodeLaunch(NodeOptions options, NodeListener listener) {
        this.options = options;
        this.listener = listener;
        this.ranks = new NodeRanks(options, listener);
        this.thread = new Thread(this::run, "larder-node");
        thread.setDaemon(true);
    }

    /** Starts to meet the other nodes, and returns at once. */
    public static NodeLaunch start(NodeOptions options, NodeListener listener) {
        NodeLaunch launch = new NodeLaunch(options, listener);
        launch.thread.start();
        return launch;
    }

    /**
     * Waits for the end of the run.
     *
     * @throws dev.larder.error.LarderException DEADLINE where it goes on, REFUSED where the leader does not want this node, and what
     *     else kept it from taking part
     */
    public NodeResult join(Duration timeout) {
        try {
            return result.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw Failure.of(ErrorCode.DEADLINE, "the run goes on")
                    .with("waited", timeout)
                    .remedy("wait longer, or stop it");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "waiting for a run was interrupted")
                    .exception();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LarderException known) {
                throw new LarderException(known.rawCode(), String.valueOf(known.getMessage()), known);
            }
            throw Failure.of(ErrorCode.UNEXPECTED, "launch failed")
                    .with("reason", e.getCause())
                    .cause(e)
                    .exception();
        }
    }

    @Override
    public void interrupt() {
        ask(StopKind.INTERRUPT);
    }

    @Override
    public void hangUp() {
        ask(StopKind.HANG_UP);
    }

    @Override
    public void terminate() {
        ask(StopKind.TERMINATE);
    }

    @Override
    public void signal(String name) {
        ranks.signal(name);
    }

    @Override
    public void kill() {
        ask(StopKind.KILL);
    }

    private void ask(StopKind kind) {
        stop = kind;
        ranks.stop(kind);
        NodeLink connected = link;
        if (connected == null) {
            thread.interrupt(); // it only waits for the leader
            return;
        }
        try {
            connected.send(Message.of(Message.Kind.STOP).with("kind", kind));
        } catch (IOException e) {
            connected.close();
        }
    }

    private void run() {
        try {
            result.complete(takePart());
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
        }
    }

    private NodeResult takePart() {
        LeaderCall call = new LeaderCall(options);
        Thread notice = new Thread(() -> sayIfWaiting(call), "larder-node-notice");
        notice.setDaemon(true);
        notice.start();
        Leader leader = null;
        try {
            leader = lead();
            NodeResult end = takePart(leader, call, notice);
            if (leader != null) {
                leader.join();
            }
            return end;
        } finally {
            notice.interrupt();
            ranks.close();
            if (leader != null) {
                leader.close();
            }
        }
    }

    /** Leads if the endpoint is of this machine and has no leader yet; null if another node leads. */
    private @Nullable Leader lead() {
        boolean isHere = options.endpoint().isHere();
        if (options.nodeRank() == 0 && !isHere) {
            throw options.endpoint().notHere();
        }
        return isHere && options.nodeRank() <= 0 ? Leader.start(options, listener) : null;
    }

    /** Reports after a while that the launcher waits, and why: in a thread of its own, as the lookup of a name may block. */
    private void sayIfWaiting(LeaderCall call) {
        try {
            Thread.sleep(NOTICE.toMillis());
            listener.said(call.waiting());
        } catch (InterruptedException e) {
            return; // the leader has answered, or the launch is over
        }
    }

    private NodeResult takePart(@Nullable Leader leader, LeaderCall call, Thread notice) {
        String token = leader == null ? "" : leader.token();
        try (NodeLink connected =
                call.connect(token, Deadline.after(options.times().meeting()))) {
            notice.interrupt();
            link = connected;
            if (stop != null) {
                throw stoppedEarly();
            }
            Outbox outbox = new Outbox(options.times().heartbeat(), connected);
            try {
                return hear(connected, leader != null);
            } finally {
                outbox.close();
            }
        } catch (InterruptedException e) {
            throw stoppedEarly();
        } finally {
            link = null;
        }
    }

    private LarderException stoppedEarly() {
        return Failure.of(ErrorCode.INTERRUPTED, "stopped while waiting for the other nodes")
                .with("endpoint", options.endpoint().text())
                .exception();
    }

    /** Does what the leader says until it says that the run is over. */
    private NodeResult hear(NodeLink connected, boolean leads) {
        try {
            while (true) {
                Message message = connected.receive();
                switch (message.kind()) {
                    case SEATED -> seated(message, leads);
                    case START -> ranks.start(message, connected, leads);
                    case LIST ->
                        work(
                                connected,
                                Message.of(Message.Kind.LISTED),
                                (data, answer) -> answer.with("text", data.list()));
                    case LOAD ->
                        work(connected, Message.of(Message.Kind.LOADED), (data, answer) -> {
                            int node = message.integer("node");
                            int nodes = message.integer("nodes");
                            NodeData.Loaded loaded = data.load(message.text("listing"), node, nodes);
                            answer.with("text", loaded.text()).with("proof", loaded.proof());
                            answer.with("node", node).with("nodes", nodes);
                        });
                    case KEEP ->
                        work(connected, Message.of(Message.Kind.KEPT), (data, answer) -> {
                            data.keep(message.text("wholes"));
                            answer.with("wholes", message.text("wholes"));
                        });
                    case HALT -> halt(message);
                    case REFUSED ->
                        throw Failure.of(ErrorCode.REFUSED, "the leader of the run refused this node")
                                .with("endpoint", options.endpoint().text())
                                .with("reason", message.text("reason"))
                                .exception();
                    case FINAL -> {
                        return new NodeResult(message.integer("exitCode"), message.text("message"));
                    }
                    default -> {}
                }
            }
        } catch (SocketTimeoutException e) {
            throw leaderIsLost(
                    "it has been silent for " + options.times().silence().toSeconds() + " s");
        } catch (IOException e) {
            throw leaderIsLost("the connection was closed");
        }
    }

    private void seated(Message message, boolean leads) {
        if (!leads) {
            listener.said(
                    "joined the run at " + options.endpoint().text() + ", which " + message.text("leader") + " leads"
                            + (message.number("isLate") == 1 ? ": it runs already; waiting for its next restart" : ""));
        }
    }

    /** What the leader asks of the data. */
    private interface DataTask {
        void run(NodeData data, Message answer);
    }

    /** Does what takes long in a thread of its own, as the leader is heard meanwhile; one after the other. */
    private void work(NodeLink connected, Message answer, DataTask task) {
        Thread worker = new Thread(
                () -> {
                    try {
                        connected.send(outcome(answer, task));
                    } catch (IOException e) {
                        connected.close(); // who receives from it hears that it is gone
                    }
                },
                "larder-node-data");
        worker.setDaemon(true);
        worker.start();
    }

    private Message outcome(Message answer, DataTask task) {
        NodeData data = options.data();
        try {
            synchronized (dataTurn) {
                if (data != null) {
                    task.run(data, answer);
                }
            }
            return answer.with("exitCode", 0);
        } catch (LarderException e) {
            return Message.of(answer.kind()).with("exitCode", e.rawCode()).with("text", String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) { // the leader waits for an answer
            return Message.of(answer.kind())
                    .with("exitCode", ErrorCode.UNEXPECTED.number())
                    .with("text", "reason=" + e);
        }
    }

    private void halt(Message message) {
        if (ranks.halt(StopKind.of(message.text("kind")))) {
            listener.said(message.text("reason") + ": ending the ranks of this node");
        }
    }

    private LarderException leaderIsLost(String cause) {
        ranks.endAll();
        StopKind asked = stop;
        if (asked != null) {
            return stoppedEarly();
        }
        return Failure.of(ErrorCode.DEADLINE, "the leader of the run is lost")
                .with("node", 0)
                .with("endpoint", options.endpoint().text())
                .with("cause", cause)
                .remedy("this node's ranks were ended; see what node 0 said last, and start the run again");
    }

    /** Kills all ranks of this node that still run, and waits until they are gone; gives up after 30 s. */
    @Override
    public void close() {
        if (thread.isAlive()) {
            ask(StopKind.KILL);
            NodeLink connected = link;
            if (connected != null) {
                connected.close();
            }
        }
        try {
            thread.join(CLOSING.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
