package dev.larder.distributed;

import dev.larder.distributed.region.RegionSpec;
import dev.larder.distributed.region.SharingStrategy;
import java.time.Duration;

/**
 * Says what group this rank joins, and how it waits.
 *
 * @param key that no other group of the store has, nor had
 */
record GroupSpec(String key, int rank, int worldSize, int chunkByteSize, SharingStrategy strategy, Waits waits) {

    /**
     * How a rank waits for others.
     *
     * @param mostSpinTurns how often it looks at most before it sleeps; 0 where others need the processor
     * @param timeout of each wait
     * @param toJoin of the wait for all to be there
     */
    record Waits(int mostSpinTurns, Duration timeout, Duration toJoin) {}

    GroupSpec {
        if (worldSize < 1 || worldSize > GroupDescriptor.WORLD_SIZE_LIMIT) {
            throw new IllegalArgumentException("worldSize: " + worldSize);
        }
        if (rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException("rank: " + rank + " of " + worldSize);
        }
        if (chunkByteSize < (long) worldSize * Chunks.ALIGNMENT || chunkByteSize % Chunks.ALIGNMENT != 0) {
            throw new IllegalArgumentException("chunkByteSize: " + chunkByteSize);
        }
    }

    RegionSpec region() {
        return new RegionSpec(
                "group." + key, GroupDescriptor.KIND, GroupDescriptor.byteSize(worldSize, chunkByteSize), strategy);
    }

    GroupSpec subgroup(String suffix, int subRank, int ranks) {
        return new GroupSpec(key + suffix, subRank, ranks, chunkByteSize, strategy, waits);
    }
}
