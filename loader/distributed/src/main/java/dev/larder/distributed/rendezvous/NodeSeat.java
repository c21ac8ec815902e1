package dev.larder.distributed.rendezvous;

/**
 * The place that one node takes at a meeting of nodes.
 *
 * @param node which of the nodes it is, from 0
 * @param nodes how many there are to be
 * @param key of what they meet for: nodes with another one are refused
 * @param secret that all of them know; needed off loopback
 * @param card what this node tells all the others: one line, not empty, of at most 512 bytes
 */
public record NodeSeat(int node, int nodes, String key, RunSecret secret, String card) {
    /** Checks the numbers. */
    public NodeSeat {
        if (nodes < 2 || node < 0 || node >= nodes || card.isEmpty() || card.indexOf('\n') >= 0) {
            throw new IllegalArgumentException("node " + node + " of " + nodes + " card: " + card);
        }
    }

    RankSeat asRank() {
        return new RankSeat(node, nodes, "nodes of " + key, secret, card);
    }
}
