package dev.larder.cluster;

import static org.awaitility.Awaitility.await;

import dev.larder.distributed.internal.meeting.Endpoint;
import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.launch.process.LaunchListener;
import dev.larder.launch.process.LaunchPlan;
import dev.larder.launch.process.OutputLine;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Starts nodes of one run in this JVM, each with a store of its own, and keeps what is heard of them. */
final class Nodes implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(30);
    static final RunSecret SECRET = RunSecret.of("a secret of sixteen or more");

    private final Path folder;
    private final int port;
    private final List<Node> started = new ArrayList<>();
    private String nodes = "2:2";
    private int maxRestarts;
    private Duration silence = Duration.ofSeconds(1);
    private String script = "true";
    private int ranks = 2;
    private @Nullable NodeData data;

    Nodes(Path folder) {
        this.folder = folder;
        this.port = freePort();
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    int port() {
        return port;
    }

    Nodes of(String counts, int ranksPerNode, String text) {
        nodes = counts;
        ranks = ranksPerNode;
        script = text;
        return this;
    }

    Nodes lostAfter(Duration time) {
        silence = time;
        return this;
    }

    Nodes restarting(int times) {
        maxRestarts = times;
        return this;
    }

    /** Gives the nodes that are made from now on data. */
    Nodes with(NodeData nodeData) {
        data = nodeData;
        return this;
    }

    /** Returns what a node of this number would bring. */
    NodeOptions options(int number) {
        String[] counts = nodes.split(":", -1);
        return new NodeOptions(
                "run",
                new Endpoint("127.0.0.1", port),
                number,
                Integer.parseInt(counts[0]),
                Integer.parseInt(counts[1]),
                SECRET,
                folder.resolve("store-" + number),
                LaunchPlan.of(ranks, List.of("sh", "-c", script))
                        .withMaxRestarts(maxRestarts)
                        .withGrace(Duration.ofSeconds(2)),
                new NodeOptions.Times(Duration.ofSeconds(10), Duration.ofMillis(300), silence),
                true,
                data);
    }

    /** Returns the options of one launcher more than the run has nodes. */
    NodeOptions extra() {
        NodeOptions any = unnumbered(options(1));
        return with(any, "run", any.endpoint(), SECRET, folder.resolve("extra"));
    }

    /** Waits until a node has shown {@code count} lines of its ranks that begin with {@code start}. */
    static void awaitLines(Node node, int count, String start) {
        await().atMost(PATIENCE)
                .until(() -> node.lines().stream()
                                .filter(line -> line.startsWith(start))
                                .count()
                        == count);
    }

    Node start(int number) {
        return start(options(number));
    }

    Node start(NodeOptions options) {
        Node node = new Node(options);
        started.add(node);
        return node;
    }

    /** Like the options given, by way of another port. */
    static NodeOptions by(int otherPort, NodeOptions options) {
        return with(
                options, options.runName(), new Endpoint("127.0.0.1", otherPort), options.secret(), options.store());
    }

    static NodeOptions with(NodeOptions options, String run, Endpoint endpoint, RunSecret secret, Path store) {
        return new NodeOptions(
                run,
                endpoint,
                options.nodeRank(),
                options.minNodes(),
                options.maxNodes(),
                secret,
                store,
                options.plan(),
                options.times(),
                options.forwards(),
                options.data());
    }

    static NodeOptions unnumbered(NodeOptions of) {
        return new NodeOptions(
                of.runName(),
                of.endpoint(),
                -1,
                of.minNodes(),
                of.maxNodes(),
                of.secret(),
                of.store(),
                of.plan(),
                of.times(),
                of.forwards(),
                of.data());
    }

    static NodeOptions running(String program, NodeOptions of) {
        LaunchPlan plan = LaunchPlan.of(1, List.of(program)).withMaxRestarts(3);
        return new NodeOptions(
                of.runName(),
                of.endpoint(),
                of.nodeRank(),
                of.minNodes(),
                of.maxNodes(),
                of.secret(),
                of.store(),
                plan,
                of.times(),
                of.forwards(),
                of.data());
    }

    @Override
    public void close() {
        started.forEach(Node::close);
    }

    /** A node, and what it said. */
    static final class Node implements NodeListener, AutoCloseable {
        private final Queue<String> said = new ConcurrentLinkedQueue<>();
        private final Queue<String> lines = new ConcurrentLinkedQueue<>();
        private final Queue<String> others = new ConcurrentLinkedQueue<>();
        private final NodeLaunch launch;

        private Node(NodeOptions options) {
            this.launch = NodeLaunch.start(options, this);
        }

        NodeLaunch launch() {
            return launch;
        }

        NodeResult join() {
            return launch.join(PATIENCE);
        }

        List<String> said() {
            return List.copyOf(said);
        }

        List<String> lines() {
            return List.copyOf(lines);
        }

        /** Returns the lines of other nodes that were shown here. */
        List<String> others() {
            return List.copyOf(others);
        }

        @Override
        public void said(String text) {
            said.add(text);
        }

        @Override
        public void linesOf(String node, int rank, List<OutputLine> some) {
            some.forEach(line -> others.add(rank + " " + line.text()));
        }

        @Override
        public LaunchListener ranks() {
            return new LaunchListener() {
                @Override
                public void lines(int rank, List<OutputLine> read) {
                    read.forEach(line -> lines.add(line.text()));
                }
            };
        }

        @Override
        public void close() {
            launch.close();
        }
    }
}
