package dev.larder.cluster;

import java.util.List;

/**
 * The data of a run at one node: its sources, and its store. Threads call the methods one after the other. Methods fail with a {@link
 * dev.larder.error.LarderException}, which all nodes report with the name of this one.
 */
public interface NodeData {
    /**
     * The data that a node has loaded.
     *
     * @param text the same on all nodes: the datasets that each has as a whole, and their digests, a line each
     * @param proof describes this node's shards for {@link #agree}; empty if it has none
     */
    record Loaded(String text, String proof) {}

    /** Describes the data of the run, in the same words on all nodes; a node with other words is refused. */
    String wanted();

    /** Returns whether the data of a node depend on its place. */
    default boolean isCut() {
        return false;
    }

    /** Lists the sources as they are now. Called once in a run, at the leader's node. */
    String list();

    /**
     * Compares the sources with the leader's list, and loads those that are not in the store of this node.
     *
     * @param node this node's place, from 0
     * @param nodes the number of nodes
     */
    Loaded load(String listing, int node, int nodes);

    /**
     * Proves that the shards of all nodes make up the whole. Called at the leader.
     *
     * @param proofs of all nodes, in their order
     * @return the datasets and the digests of the whole, a line each
     */
    default String agree(List<String> proofs) {
        return "";
    }

    /** Records the result of {@link #agree}. Called at each node before a rank starts. */
    default void keep(String wholes) {}
}
