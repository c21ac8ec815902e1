package dev.larder.distributed;

import dev.larder.distributed.region.Regions;
import dev.larder.distributed.region.SharingStrategy;
import java.time.Duration;

/**
 * Makes process groups of the ranks of one machine, over memory that they share.
 *
 * <pre>{@code
 * try (ProcessGroup group = ProcessGroups.of(regions, key).join(rank, worldSize)) {
 *     group.allReduce(Span.of(gradients), ReduceOp.AVG);
 * }
 * }</pre>
 */
public final class ProcessGroups {
    private static final int CHUNK_BYTE_SIZE = 256 * 1024;
    private static final int SPIN_TURNS = 2000;

    private final Regions regions;
    private final String key;
    private Duration timeout = Duration.ofMinutes(5);
    private Duration joinTimeout = Duration.ofMinutes(5);
    private int chunkByteSize = CHUNK_BYTE_SIZE;
    private SharingStrategy strategy = SharingStrategy.FILE;

    private ProcessGroups(Regions regions, String key) {
        this.regions = regions;
        this.key = key;
    }

    /**
     * Begins to describe a group.
     *
     * @param regions that the group uses and does not close
     * @param key which all its ranks have, and no other group of the store has or had; one path component
     */
    public static ProcessGroups of(Regions regions, String key) {
        return new ProcessGroups(regions, key);
    }

    /** Bounds each wait for other ranks; 5 minutes unless told otherwise. */
    public ProcessGroups timeout(Duration timeout) {
        this.timeout = timeout;
        return this;
    }

    /** Bounds the wait for all ranks to join; 5 minutes unless told otherwise. */
    public ProcessGroups joinTimeout(Duration timeout) {
        this.joinTimeout = timeout;
        return this;
    }

    /** Sets how much ranks hand over at a time; all ranks set the same multiple of 64, at least 64 for each rank. */
    public ProcessGroups chunkByteSize(int chunkByteSize) {
        this.chunkByteSize = chunkByteSize;
        return this;
    }

    /** Sets how the memory is shared; {@link SharingStrategy#FILE} unless told otherwise. */
    public ProcessGroups strategy(SharingStrategy strategy) {
        this.strategy = strategy;
        return this;
    }

    /**
     * Becomes a rank of the group, and waits until all the others have. The caller owns the group.
     *
     * @throws dev.larder.error.LarderException DEADLINE with the ranks that are missing; REFUSED where somebody is this rank, or was;
     *     BAD_INPUT where ranks disagree about the group
     */
    public ProcessGroup join(int rank, int worldSize) {
        int turns = worldSize <= UsableCores.count() ? SPIN_TURNS : 0;
        return SharedMemoryGroup.join(
                regions,
                new GroupSpec(
                        key,
                        rank,
                        worldSize,
                        chunkByteSize,
                        strategy,
                        new GroupSpec.Waits(turns, timeout, joinTimeout)));
    }
}
