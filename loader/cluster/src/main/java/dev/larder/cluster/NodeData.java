package dev.larder.cluster;

/**
 * The data of a run, as one node sees its sources and holds it in its store. Methods are called by one thread after the other. They fail
 * with a {@link dev.larder.error.LarderException}, of which all nodes are told, with the name of this one.
 */
public interface NodeData {
    /** Says what is wanted, in the same words on all nodes; the run is refused where they differ. */
    String wanted();

    /** Lists the sources as they are now. Asked of the leader's node, once a run. */
    String list();

    /**
     * Compares the sources with the leader's list, and brings them into the store of this node. What is there already is not read.
     *
     * @return the datasets and their digests, a line each, which must be the same on all nodes
     */
    String load(String listing);
}
