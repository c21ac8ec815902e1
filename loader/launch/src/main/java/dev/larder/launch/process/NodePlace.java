package dev.larder.launch.process;

/**
 * The place of one machine's ranks among those of several machines, for one attempt.
 *
 * @param node GROUP_RANK: which machine this is, from 0
 * @param nodes GROUP_WORLD_SIZE: how many machines there are
 * @param firstRank RANK of the first rank here
 * @param worldSize WORLD_SIZE: how many ranks there are on all machines
 * @param masterAddress MASTER_ADDR: where this machine reaches rank 0
 * @param masterPort MASTER_PORT: where rank 0 may listen
 * @param round counts attempts from 0, whatever ended the one before
 * @param restarts TORCHELASTIC_RESTART_COUNT: how often ranks have failed
 * @param runId the same on all machines, and no other run's
 */
public record NodePlace(
        int node,
        int nodes,
        int firstRank,
        int worldSize,
        String masterAddress,
        int masterPort,
        int round,
        int restarts,
        String runId) {}
