package dev.larder.cluster;

import dev.larder.distributed.internal.meeting.Endpoint;
import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.launch.process.LaunchPlan;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What one node brings to a run of several.
 *
 * @param runName tells apart the runs that use one endpoint
 * @param endpoint where the nodes meet
 * @param nodeRank the node's number, from 0, which then is its place; −1 where nodes are numbered as they come
 * @param minNodes how many nodes it takes to start
 * @param maxNodes how many nodes take part at most
 * @param secret the run's secret; {@link RunSecret#NONE} for processes of one machine that trust each other
 * @param store the store of this node
 * @param plan the ranks of this node
 * @param times how long nodes wait for each other
 * @param forwards whether lines of this node's ranks are shown at the leader, too
 * @param data what is in the store of each node before ranks start; null for nothing
 */
public record NodeOptions(
        String runName,
        Endpoint endpoint,
        int nodeRank,
        int minNodes,
        int maxNodes,
        RunSecret secret,
        Path store,
        LaunchPlan plan,
        Times times,
        boolean forwards,
        @Nullable NodeData data) {

    /**
     * How long nodes wait for each other.
     *
     * @param meeting for the fewest nodes, at the begin
     * @param join for further nodes, once the fewest are there, and for lost ones to come back
     * @param silence for a sign of life of a node, or of the leader
     */
    public record Times(Duration meeting, Duration join, Duration silence) {
        private static final Duration SHORTEST_SILENCE = Duration.ofSeconds(1);

        /** Refuses what no network can keep. */
        public Times {
            if (silence.compareTo(SHORTEST_SILENCE) < 0 || meeting.isZero()) {
                throw Failure.of(ErrorCode.USAGE, "nodes need time to hear of each other")
                        .with("meeting", meeting)
                        .with("silence", silence)
                        .remedy("give more than 0s for the meeting, and 1s or more for the silence");
            }
        }

        /** Returns how often a sign of life is sent: four may be lost. */
        Duration heartbeat() {
            return silence.dividedBy(5);
        }
    }

    /** Refuses what makes no sense. */
    public NodeOptions {
        if (minNodes < 1 || maxNodes < minNodes) {
            throw Failure.of(ErrorCode.USAGE, "bad number of nodes")
                    .with("nnodes", minNodes + ":" + maxNodes)
                    .remedy("give N, or MIN:MAX");
        }
        if (nodeRank >= maxNodes) {
            throw Failure.of(ErrorCode.USAGE, "no such node rank")
                    .with("nodeRank", nodeRank)
                    .with("nnodes", maxNodes)
                    .remedy("give 0 to " + (maxNodes - 1));
        }
        if (endpoint.port() == 0) {
            throw Failure.of(ErrorCode.USAGE, "nodes cannot find each other at a port that is drawn")
                    .with("endpoint", endpoint.text())
                    .remedy("give all nodes the same port: "
                            + new Endpoint(endpoint.host(), Endpoint.USUAL_PORT).text());
        }
        endpoint.requireReachable();
        if (!secret.isGiven() && !endpoint.isLoopback()) {
            throw Failure.of(ErrorCode.USAGE, "a rendezvous that other machines reach needs the run's secret")
                    .with("endpoint", endpoint.text())
                    .remedy(RunSecret.REMEDY);
        }
    }
}
