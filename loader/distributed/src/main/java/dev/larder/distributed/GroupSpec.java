package dev.larder.distributed;

import dev.larder.distributed.region.RegionSpec;
import dev.larder.distributed.region.SharingStrategy;
import java.time.Duration;

/**
 * Says what group this rank joins, and how it waits.
 *
 * @param key that no other group of the store has, nor had
 * @param timeout of each wait for others
 */
record GroupSpec(
        String key,
        int rank,
        int worldSize,
        int chunkByteSize,
        int spinTurns,
        SharingStrategy strategy,
        Duration timeout,
        Duration joinTimeout) {

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
        return new GroupSpec(key + suffix, subRank, ranks, chunkByteSize, spinTurns, strategy, timeout, joinTimeout);
    }
}
