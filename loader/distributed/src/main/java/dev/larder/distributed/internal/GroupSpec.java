package dev.larder.distributed.internal;

import dev.larder.distributed.region.RegionSpec;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * The settings of a group for one rank.
 *
 * @param key of no other group of the store, now or before
 * @param sums the order of sums
 * @param place the names of the ranks
 */
public record GroupSpec(
        String key, int rank, int worldSize, int chunkByteSize, Waits waits, RankLayout sums, RankNames place) {

    private static final Pattern SUBGROUP_KEY = Pattern.compile(".*\\.sub[0-9]+", Pattern.DOTALL);

    /**
     * The limits of waits for other ranks.
     *
     * @param mostSpinTurns the most looks before a sleep, if there is a processor for each rank
     * @param timeout of each wait
     * @param toJoin of the wait for all to join
     */
    public record Waits(int mostSpinTurns, Duration timeout, Duration toJoin) {}

    /** Describes a group that sums in the order of its ranks. */
    public GroupSpec(String key, int rank, int worldSize, int chunkByteSize, Waits waits) {
        this(
                key,
                rank,
                worldSize,
                chunkByteSize,
                waits,
                RankLayout.ofSizes(Math.max(1, worldSize)),
                RankNames.only(Math.max(0, worldSize)));
    }

    /** Checks the numbers. */
    public GroupSpec {
        if (worldSize < 1 || worldSize > GroupDescriptor.WORLD_SIZE_LIMIT) {
            throw new IllegalArgumentException("worldSize: " + worldSize);
        }
        if (rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException("rank: " + rank + " of " + worldSize);
        }
        if (chunkByteSize < (long) worldSize * SpanChunks.ALIGNMENT || chunkByteSize % SpanChunks.ALIGNMENT != 0) {
            throw new IllegalArgumentException("chunkByteSize: " + chunkByteSize);
        }
        if (sums.worldSize() != worldSize || place.ranks().size() != worldSize) {
            throw new IllegalArgumentException("layout of sums: " + sums + " worldSize: " + worldSize);
        }
    }

    public RegionSpec region() {
        return new RegionSpec("group." + key, GroupDescriptor.KIND, GroupDescriptor.byteSize(worldSize, chunkByteSize));
    }

    /** Returns whether {@link #subgroup} makes such keys. */
    public static boolean isOfSubgroup(String key) {
        return SUBGROUP_KEY.matcher(key).matches();
    }

    public GroupSpec with(RankLayout layout) {
        return new GroupSpec(key, rank, worldSize, chunkByteSize, waits, layout, place);
    }

    public GroupSpec with(RankNames names) {
        return new GroupSpec(key, rank, worldSize, chunkByteSize, waits, sums, names);
    }

    public GroupSpec subgroup(int number, int subRank, int ranks) {
        return new GroupSpec(key + ".sub" + number, subRank, ranks, chunkByteSize, waits);
    }
}
