package dev.larder.distributed.internal;

import dev.larder.distributed.internal.meeting.NodeLinks;
import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.distributed.transport.GroupTransport;
import java.time.Duration;

/**
 * The settings of a group that spans nodes, for one rank.
 *
 * @param local the group of the ranks of this node
 * @param node the number of this node
 * @param nodes the number of nodes
 * @param worldSize the ranks of all nodes
 * @param way the meeting of the leaders
 */
public record NodesSpec(GroupSpec local, int node, int nodes, int worldSize, Way way) {
    /** The meeting of a leader with the others; other ranks do not use it. */
    public interface Way {
        /** Returns the transport. */
        GroupTransport transport();

        /** Returns the address at which other nodes reach this one. */
        String host();

        /** Returns the secret of the run. */
        RunSecret secret();

        /** Returns the size of a window between nodes. */
        int windowByteSize();

        /** Meets the leaders of the other nodes. The caller owns the result. */
        NodeLinks meet(String card, Duration timeout);
    }

    /** Returns the size of a window between nodes. */
    public int windowByteSize() {
        return way.windowByteSize();
    }

    /** Returns the rank in the whole group. */
    public int rank() {
        return local.place().ranks().get(local.rank());
    }
}
