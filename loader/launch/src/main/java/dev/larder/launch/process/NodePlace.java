package dev.larder.launch.process;

/**
 * The place of one machine's ranks among those of several machines, for one attempt.
 *
 * @param node GROUP_RANK: the number of this machine, from 0
 * @param nodes GROUP_WORLD_SIZE: the number of machines
 * @param firstRank RANK of the first rank here
 * @param worldSize WORLD_SIZE: the number of ranks on all machines
 * @param masterAddress MASTER_ADDR: the address of rank 0 for this machine
 * @param masterPort MASTER_PORT: the port for rank 0
 * @param round counts all attempts from 0
 * @param restarts TORCHELASTIC_RESTART_COUNT: the number of failed attempts
 * @param runId the same on all machines, and different for every other run
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
