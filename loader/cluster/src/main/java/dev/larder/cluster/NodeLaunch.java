package dev.larder.cluster;

import dev.larder.distributed.internal.meeting.Link;
import dev.larder.distributed.internal.meeting.Outbox;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import dev.larder.launch.process.RunningRanks;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Launches ranks on several nodes. Each node has one launch, like the agents of {@code torchrun}. They meet at an endpoint; the node with
 * that address leads the run, as node 0. All nodes start their ranks at the same time. If a rank fails, or a node is lost, all end their
 * ranks, and the remaining nodes start again if the run allows that.
 *
 * <p>If the leader is lost, all others end their ranks and fail; an engine or a user can start the run again.
 *
 * <p>Ranks and their descendants end with this process, even if it is killed. The caller closes a launch. Thread-safe.
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
    private volatile @Nullable Link<Message> link;
    private volatile @Nullable StopKind stop;

    private NodeLaunch(NodeOptions options, NodeListener listener) {
        this.options = options;
        this.listener = listener;
        this.ranks = new NodeRanks(options, listener);
        this.thread = new Thread(this::run, "larder-node");
        thread.setDaemon(true);
    }

    /** Starts to meet the other nodes. Does not wait. */
    public static NodeLaunch start(NodeOptions options, NodeListener listener) {
        NodeLaunch launch = new NodeLaunch(options, listener);
        launch.thread.start();
        return launch;
    }

    /**
     * Waits for the end of the run.
     *
     * @throws dev.larder.error.LarderException DEADLINE if the run continues, REFUSED if the leader refuses this node, or another reason
     *     that kept it from taking part
     */
    public NodeResult join(Duration timeout) {
        try {
            return result.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw Failure.of(ErrorCode.DEADLINE, "the run has not ended in time")
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
        Link<Message> connected = link;
        if (connected == null) {
            thread.interrupt(); // it only waits for the leader
            return;
        }
        try {
            connected.send(new Message.Stop(kind));
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
        try (Link<Message> connected =
                call.connect(token, Deadline.after(options.times().meeting()))) {
            notice.interrupt();
            link = connected;
            if (stop != null) {
                throw stoppedEarly();
            }
            Outbox<Message> outbox = new Outbox<>(connected, options.times().heartbeat(), new Message.Ping());
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

    /** Follows the leader until the run is over. */
    private NodeResult hear(Link<Message> connected, boolean leads) {
        try {
            while (true) {
                Message message = connected.receive();
                if (message instanceof Message.Final end) {
                    return new NodeResult(end.exitCode(), end.message());
                } else if (message instanceof Message.Refused refused) {
                    throw Failure.of(ErrorCode.REFUSED, "the leader of the run refused this node")
                            .with("endpoint", options.endpoint().text())
                            .with("reason", refused.reason())
                            .exception();
                } else if (message instanceof Message.Seated seated) {
                    seated(seated, leads);
                } else if (message instanceof Message.Start start) {
                    ranks.start(start.place(), connected, leads);
                } else if (message instanceof Message.Halt halt) {
                    halt(halt);
                } else {
                    workOnData(connected, message);
                }
            }
        } catch (SocketTimeoutException e) {
            throw leaderIsLost(
                    "it has been silent for " + options.times().silence().toSeconds() + " s");
        } catch (IOException e) {
            throw leaderIsLost("the connection was closed");
        }
    }

    private void seated(Message.Seated message, boolean leads) {
        if (!leads) {
            listener.said("joined the run at " + options.endpoint().text() + ", which " + message.leader() + " leads"
                    + (message.isLate() ? ": it runs already; waiting for its next restart" : ""));
        }
    }

    private void workOnData(Link<Message> connected, Message message) {
        if (message instanceof Message.ListSources) {
            work(connected, data -> new Message.Listed(0, data.list()), Message.Listed::new);
        } else if (message instanceof Message.Load load) {
            work(
                    connected,
                    data -> {
                        NodeData.Loaded loaded = data.load(load.listing(), load.node(), load.nodes());
                        return new Message.Loaded(0, loaded.text(), loaded.proof(), load.node(), load.nodes());
                    },
                    (exitCode, reason) -> new Message.Loaded(exitCode, reason, "", load.node(), load.nodes()));
        } else if (message instanceof Message.Keep keep) {
            work(
                    connected,
                    data -> {
                        data.keep(keep.wholes());
                        return new Message.Kept(0, "");
                    },
                    Message.Kept::new);
        }
    }

    /** Runs tasks one after the other in a thread of their own, while this one listens to the leader. */
    private void work(
            Link<Message> connected, Function<NodeData, Message> task, BiFunction<Integer, String, Message> failed) {
        Thread worker = new Thread(
                () -> {
                    try {
                        connected.send(outcome(task, failed));
                    } catch (IOException e) {
                        connected.close(); // the thread that receives from it reports that
                    }
                },
                "larder-node-data");
        worker.setDaemon(true);
        worker.start();
    }

    private Message outcome(Function<NodeData, Message> task, BiFunction<Integer, String, Message> failed) {
        try {
            synchronized (dataTurn) {
                return task.apply(
                        Objects.requireNonNull(options.data(), "the leader has data, and this node has none"));
            }
        } catch (LarderException e) {
            return failed.apply(e.rawCode(), String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) { // the leader waits for an answer
            return failed.apply(ErrorCode.UNEXPECTED.number(), "reason=" + e);
        }
    }

    private void halt(Message.Halt message) {
        if (ranks.halt(message.kind())) {
            listener.said(message.reason() + ": ending the ranks of this node");
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
                .remedy("this node's ranks were ended; read the last output of node 0, and start the run again");
    }

    /** Kills all ranks of this node that still run, and waits until they are gone; gives up after 30 s. */
    @Override
    public void close() {
        if (thread.isAlive()) {
            ask(StopKind.KILL);
            Link<Message> connected = link;
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
