package dev.larder.distributed.rendezvous;

/**
 * What every rank knows once all have met.
 *
 * @param rank which of them this process is, from 0
 * @param worldSize how many there are
 * @param localRank which it is of those on this node
 * @param localWorldSize how many are on this node
 * @param node which of the nodes this one is, from 0: a machine, or a part of one with a store of its own
 * @param nodes how many there are
 * @param key a text of at most 64 characters out of {@code [a-z0-9-]}: the same for all ranks of one run and attempt, and
 *     different for every other, so that what carries it in its name is never mistaken for an earlier attempt's
 */
public record RendezvousResult(
        int rank, int worldSize, int localRank, int localWorldSize, int node, int nodes, String key) {

    /** Describes a rank of the only node. */
    public RendezvousResult(int rank, int worldSize, int localRank, int localWorldSize, String key) {
        this(rank, worldSize, localRank, localWorldSize, 0, 1, key);
    }

    static RendezvousResult onOneMachine(RankSeat seat, String key) {
        return new RendezvousResult(seat.rank(), seat.worldSize(), seat.rank(), seat.worldSize(), key);
    }
}
