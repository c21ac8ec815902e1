package dev.larder.distributed.internal;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The names of the ranks of a node in a group that spans nodes.
 *
 * @param ranks of the node, by their places in it
 * @param label names the node in messages, after a space; empty for a single node
 */
public record RankNames(List<Integer> ranks, String label) {
    /** Copies the list. */
    public RankNames {
        ranks = List.copyOf(ranks);
    }

    /** Returns the names of a group on one node. */
    static RankNames only(int worldSize) {
        return new RankNames(IntStream.range(0, worldSize).boxed().toList(), "");
    }
}
