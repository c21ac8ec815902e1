package dev.larder.cluster;

import java.util.List;

/**
 * The data of a run, as one node sees its sources and holds it in its store. Methods are called by one thread after the other. They fail
 * with a {@link dev.larder.error.LarderException}, of which all nodes are told, with the name of this one.
 */
public interface NodeData {
    /**
     * What a node has brought.
     *
     * @param text what must be the same on all nodes: the datasets that each has as a whole, and their digests, a line each
     * @param proof what this node's shards are, for {@link #agree}; empty where it has none
     */
    record Loaded(String text, String proof) {}

    /** Says what is wanted, in the same words on all nodes; the run is refused where they differ. */
    String wanted();

    /** Tells whether a node has other data, depending on its place among the nodes. */
    default boolean isCut() {
        return false;
    }

    /** Lists the sources as they are now. Asked of the leader's node, once a run. */
    String list();

    /**
     * Compares the sources with the leader's list, and brings them into the store of this node. What is there already is not read.
     *
     * @param node this node's place, from 0
     * @param nodes how many there are
     */
    Loaded load(String listing, int node, int nodes);

    /**
     * Proves that the shards of all nodes make up the whole. Asked of the leader.
     *
     * @param proofs those of all nodes, in their order
     * @return the datasets and the digests of the whole, a line each
     */
    default String agree(List<String> proofs) {
        return "";
    }

    /** Takes note of what {@link #agree} said. Asked of each node before a rank starts. */
    default void keep(String wholes) {}
}
