package dev.larder.cluster;

import dev.larder.cluster.Message.Over.Outcome;
import dev.larder.distributed.internal.meeting.Link;
import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.internal.time.Deadline;
import dev.larder.launch.process.AttemptResult;
import dev.larder.launch.process.LaunchListener;
import dev.larder.launch.process.LaunchPlan;
import dev.larder.launch.process.LaunchResult;
import dev.larder.launch.process.Launcher;
import dev.larder.launch.process.NodePlace;
import dev.larder.launch.process.OutputLine;
import dev.larder.launch.process.RankResult;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The ranks of one node: starts them at the request of the leader, and reports their end to it. Thread-safe. */
final class NodeRanks implements AutoCloseable {
    /** The network interface for Gloo. Its default may be one that no other machine reaches. */
    private static final String GLOO_INTERFACE = "GLOO_SOCKET_IFNAME";

    private static final Duration LAST_LINES_PATIENCE = Duration.ofSeconds(2);
    private static final int LAST_LINES = 5;

    private final NodeOptions options;
    private final NodeListener listener;
    private @Nullable Launcher launcher;
    private @Nullable StopKind stop;
    private volatile boolean isFailing;

    NodeRanks(NodeOptions options, NodeListener listener) {
        this.options = options;
        this.listener = listener;
    }

    /** Starts the ranks of a round. */
    synchronized void start(NodePlace place, Link<Message> link, boolean leads) {
        close();
        LaunchPlan plan = options.plan().withNode(place).withEnvironment(environment(link, place.masterAddress()));
        isFailing = false;
        listener.roundStarts(place);
        LineForwarder forwarder = leads || !options.forwards() ? null : forwarder(link);
        Launcher started = Launcher.start(plan, new Relay(place, link, forwarder));
        launcher = started;
        if (stop != null) {
            stop.ask(started);
        }
        var unused =
                started.onEnd().whenComplete((result, failure) -> tellEnd(place, link, forwarder, result, failure));
    }

    private static LineForwarder forwarder(Link<Message> link) {
        return new LineForwarder(
                some -> link.send(Message.Lines.of(some.rank(), some.lines())),
                lost -> lost + " lines of this node were dropped here; its own output has them");
    }

    private Map<String, @Nullable String> environment(Link<Message> link, String masterAddress) {
        Map<String, @Nullable String> environment = new HashMap<>(options.plan().environment());
        environment.putIfAbsent("TORCHELASTIC_RUN_ID", options.runName());
        String secret = options.secret().text();
        if (!secret.isEmpty()) {
            environment.put(RunSecret.VARIABLE, secret);
        }
        String network = networkOf(link.local(), masterAddress);
        if (network != null && !System.getenv().containsKey(GLOO_INTERFACE)) {
            environment.putIfAbsent(GLOO_INTERFACE, network);
        }
        return environment;
    }

    /** Returns the interface that leads to the leader; at the leader's own node, the one of the master address. */
    private static @Nullable String networkOf(InetAddress local, String masterAddress) {
        try {
            InetAddress address = local.isLoopbackAddress() ? InetAddress.getByName(masterAddress) : local;
            NetworkInterface network = NetworkInterface.getByInetAddress(address);
            return network == null ? null : network.getName();
        } catch (SocketException | UnknownHostException e) {
            return null; // Gloo uses its default
        }
    }

    /** Listens to the ranks of a round, and reports the first failure to the leader immediately. */
    private final class Relay implements LaunchListener {
        private final LaunchListener shown = listener.ranks();
        private final NodePlace place;
        private final Link<Message> link;
        private final @Nullable LineForwarder forwarder;

        private Relay(NodePlace place, Link<Message> link, @Nullable LineForwarder forwarder) {
            this.place = place;
            this.link = link;
            this.forwarder = forwarder;
        }

        @Override
        public void attemptStarts(int attempt, int masterPort) {
            shown.attemptStarts(attempt, masterPort);
        }

        @Override
        public void lines(int rank, List<OutputLine> lines) {
            if (forwarder != null) {
                forwarder.offer("", place.firstRank() + rank, lines);
            }
            shown.lines(rank, lines);
        }

        @Override
        public RankLogs logs(int attempt, int rank) {
            return shown.logs(attempt, rank);
        }

        @Override
        public void rankEnded(int attempt, RankResult end) {
            shown.rankEnded(attempt, end);
        }

        @Override
        public void othersAreEnded(int attempt, int failedRank) {
            isFailing = true;
            tell(link, new Message.Failing(place.round(), place.firstRank() + failedRank));
            shown.othersAreEnded(attempt, failedRank);
        }

        @Override
        public void attemptEnded(AttemptResult end) {
            shown.attemptEnded(end);
        }
    }

    private void tellEnd(
            NodePlace place,
            Link<Message> link,
            @Nullable LineForwarder forwarder,
            @Nullable LaunchResult result,
            @Nullable Throwable failure) {
        if (forwarder != null) {
            forwarder.drain(LAST_LINES_PATIENCE);
            forwarder.close();
        }
        tell(
                link,
                result == null
                        ? new Message.Over(place.round(), Outcome.FAILURE, 1, false, 0, "reason=" + failure, "")
                        : over(place, result));
    }

    private static Message over(NodePlace place, LaunchResult result) {
        RankResult first = result.firstFailure();
        if (first == null) {
            return Message.Over.of(place.round(), result.isSuccess() ? Outcome.SUCCESS : Outcome.ENDED);
        }
        List<String> lines = first.lastLines();
        String rank = Integer.toString(place.firstRank() + first.rank());
        return new Message.Over(
                place.round(),
                Outcome.FAILURE,
                first.cause().exitCode(),
                !result.last().isWorthARestart(),
                System.nanoTime() - result.last().firstFailureNanos(),
                "rank=" + rank + " pid=" + first.pid() + " cause="
                        + first.cause().text() + " after="
                        + first.ending().ran().toMillis() + "ms",
                lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()).stream()
                        .map(line -> "  [" + rank + "] " + line)
                        .collect(Collectors.joining("\n")));
    }

    private static void tell(Link<Message> link, Message message) {
        try {
            link.send(message);
        } catch (IOException e) {
            link.close(); // the thread that receives reports it
        }
    }

    /** Requests the end of the ranks for the leader; false if they are ending already. */
    synchronized boolean halt(StopKind kind) {
        Launcher running = launcher;
        boolean isNeeded = running != null && !running.onEnd().isDone() && !(isFailing && kind.isAskedByFailure());
        if (running != null && isNeeded) {
            kind.ask(running);
        }
        return isNeeded && stop == null;
    }

    /** Requests the end of the ranks of this round and later ones, for the user of this node. */
    synchronized void stop(StopKind kind) {
        stop = kind;
        if (launcher != null) {
            kind.ask(launcher);
        }
    }

    /** Sends the ranks of this node a signal. */
    synchronized void signal(String name) {
        if (launcher != null) {
            launcher.signal(name);
        }
    }

    /** Ends the ranks, and waits until they are gone. */
    void endAll() {
        Launcher running;
        synchronized (this) {
            running = launcher;
        }
        if (running != null) {
            running.terminate();
            await(running);
        }
    }

    private void await(Launcher running) {
        Deadline patience = Deadline.after(options.plan().grace().plusSeconds(20));
        while (!running.onEnd().isDone() && !patience.isOver()) {
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                running.kill(); // the end is requested immediately
                return;
            }
        }
    }

    @Override
    public synchronized void close() {
        if (launcher != null) {
            launcher.close();
            launcher = null;
        }
    }
}
