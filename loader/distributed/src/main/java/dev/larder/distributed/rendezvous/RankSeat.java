package dev.larder.distributed.rendezvous;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;

/**
 * The place that one process takes at a meeting.
 *
 * @param rank which of the ranks it is
 * @param worldSize how many there are to be
 * @param job tells jobs apart that were given one address by mistake; empty where nobody named any
 * @param secret that all ranks know
 * @param card what this rank tells all the others, one line; empty for all or for none
 */
record RankSeat(int rank, int worldSize, String job, RunSecret secret, String card) {
    /** More than any machine runs; bounds what a meeting keeps for each. */
    static final int MAX_WORLD_SIZE = 4096;

    RankSeat(int rank, int worldSize, String job) {
        this(rank, worldSize, job, RunSecret.NONE, "");
    }

    RankSeat {
        if (worldSize < 1 || worldSize > MAX_WORLD_SIZE) {
            throw Failure.of(ErrorCode.BAD_INPUT, "bad world size")
                    .with("world_size", worldSize)
                    .remedy("give the number of ranks, from 1 to " + MAX_WORLD_SIZE);
        }
        if (rank < 0 || rank >= worldSize) {
            throw Failure.of(ErrorCode.BAD_INPUT, "bad rank")
                    .with("rank", rank)
                    .with("world_size", worldSize)
                    .remedy("ranks count from 0 to one less than the world size");
        }
    }
}
