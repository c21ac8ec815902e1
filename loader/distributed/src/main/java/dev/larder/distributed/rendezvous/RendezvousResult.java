package dev.larder.distributed.rendezvous;

/**
 * The result of a meeting for one rank.
 *
 * @param rank of this process, from 0
 * @param worldSize the number of ranks
 * @param localRank its number among the ranks of this node
 * @param localWorldSize the number of ranks of this node
 * @param node the number of this node, from 0: a machine, or a part of one with a store of its own
 * @param nodes the number of nodes
 * @param key at most 64 characters of {@code [a-z0-9-]}: the same for all ranks of one run and attempt, and different for every
 *     other attempt, so that names with the key never refer to an earlier attempt
 */
public record RendezvousResult(
        int rank, int worldSize, int localRank, int localWorldSize, int node, int nodes, String key) {

    /** Describes a rank of the only node. */
    public RendezvousResult(int rank, int worldSize, int localRank, int localWorldSize, String key) {
        this(rank, worldSize, localRank, localWorldSize, 0, 1, key);
    }
}
