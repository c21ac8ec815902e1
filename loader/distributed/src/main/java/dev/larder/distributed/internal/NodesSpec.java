package dev.larder.distributed.internal;

import dev.larder.distributed.internal.meeting.NodeLinks;
import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.distributed.transport.GroupTransport;
import java.time.Duration;

/**
 * Says what group this rank joins that spans nodes.
 *
 * @param local the group of the ranks of this node
 * @param node which of the nodes it is
 * @param nodes how many there are
 * @param worldSize how many ranks all nodes have
 * @param way how the leader finds the other nodes
 */
public record NodesSpec(GroupSpec local, int node, int nodes, int worldSize, Way way) {
    /** How the leader of a node finds those of the others; other ranks do not use it. */
    public interface Way {
        /** Finds the transport. */
        GroupTransport transport();

        /** Returns the address at which other nodes reach this one. */
        String host();

        /** Returns what all nodes of the run know. */
        RunSecret secret();

        /** Returns how much goes to other nodes at a time. */
        int windowByteSize();

        /** Meets the leaders of the other nodes. The caller owns what it returns. */
        NodeLinks meet(String card, Duration timeout);
    }

    /** Returns how much goes to other nodes at a time. */
    public int windowByteSize() {
        return way.windowByteSize();
    }

    /** Returns the rank in the whole group. */
    public int rank() {
        return local.place().ranks().get(local.rank());
    }
}
