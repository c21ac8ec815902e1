package dev.larder.distributed.internal;

import java.util.List;
import java.util.stream.IntStream;

/**
 * What the ranks of a node are called in a group that spans nodes.
 *
 * @param ranks of the node, by their places in it
 * @param label names the node in messages, after a space; empty where there is no other
 */
public record RankNames(List<Integer> ranks, String label) {
    /** Keeps a list that does not change. */
    public RankNames {
        ranks = List.copyOf(ranks);
    }

    /** Names the ranks of a group by themselves. */
    static RankNames only(int worldSize) {
        return new RankNames(IntStream.range(0, worldSize).boxed().toList(), "");
    }
}
