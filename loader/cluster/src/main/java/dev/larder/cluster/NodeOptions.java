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
 * The options of one node for a run of several.
 *
 * @param runName distinguishes the runs that use one endpoint
 * @param endpoint the place of the meeting
 * @param nodeRank the node's number and place, from 0; −1 if nodes are numbered in the order of arrival
 * @param minNodes the fewest nodes of the run
 * @param maxNodes the most nodes of the run
 * @param secret the run's secret; {@link RunSecret#NONE} for processes of one machine that trust each other
 * @param store the store of this node
 * @param plan the ranks of this node
 * @param times the limits of waits
 * @param forwards whether the leader also shows the lines of this node's ranks
 * @param data that each node loads before ranks start; null for none
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
     * The limits of waits for other nodes.
     *
     * @param meeting for the fewest nodes, at the beginning
     * @param join for further nodes, once the fewest are there, and for lost ones to come back
     * @param silence for a sign of life of a node, or of the leader
     */
    public record Times(Duration meeting, Duration join, Duration silence) {
        private static final Duration SHORTEST_SILENCE = Duration.ofSeconds(1);

        /** Refuses times that are too short for a network. */
        public Times {
            if (silence.compareTo(SHORTEST_SILENCE) < 0 || meeting.isZero()) {
                throw Failure.of(ErrorCode.USAGE, "the timeouts of nodes are too short")
                        .with("meeting", meeting)
                        .with("silence", silence)
                        .remedy("give more than 0s for the meeting, and 1s or more for the silence");
            }
        }

        /** Returns the pause between signs of life: four may be lost. */
        Duration heartbeat() {
            return silence.dividedBy(5);
        }
    }

    /** Refuses inconsistent options. */
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
