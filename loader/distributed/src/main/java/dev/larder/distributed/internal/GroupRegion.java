package dev.larder.distributed.internal;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.RegionSpec;
import dev.larder.distributed.region.Regions;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Opens the region of a group, and reports differences between the ranks about a group of this name. */
public final class GroupRegion {
    /** The wait for a region that was there a moment ago. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private GroupRegion() {}

    /** Opens the region, and initializes it if this rank comes first. */
    public static Region open(Regions regions, GroupSpec spec) {
        RegionSpec wanted = spec.region();
        try {
            return regions.openOrCreate(
                    wanted, memory -> layOut(memory, spec), spec.waits().toJoin());
        } catch (LarderException e) {
            if (e.code() == ErrorCode.REFUSED) {
                tellTheOthers(regions, spec, wanted, e);
            }
            throw e;
        }
    }

    private static void layOut(SharedMemory memory, GroupSpec spec) {
        memory.putInt(GroupDescriptor.WORLD_SIZE_OFFSET, spec.worldSize());
        memory.putInt(GroupDescriptor.CHUNK_BYTE_SIZE_OFFSET, spec.chunkByteSize());
        memory.putInt(GroupDescriptor.SUMS_OFFSET, spec.sums().fingerprint());
    }

    /** Handles a region of another size: if it is that of a group, its ranks get the reason why this one does not join. */
    private static void tellTheOthers(Regions regions, GroupSpec spec, RegionSpec wanted, LarderException refused) {
        try (@Nullable Region other = find(regions, wanted, refused)) {
            if (other != null) {
                requireSame(other, spec, new GroupFault(other.memory(), spec.rank()));
            }
        }
    }

    /** Opens an existing region; null if it has gone meanwhile, or is of another kind. */
    private static @Nullable Region find(Regions regions, RegionSpec wanted, LarderException refused) {
        try {
            return regions.open(wanted.name(), wanted.kind(), PATIENCE);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.INTERRUPTED) {
                throw e;
            }
            refused.addSuppressed(e);
            return null;
        }
    }

    /** Breaks a group that is gathering if this rank expects another one than its creator. A running group is not affected. */
    public static void requireSame(Region region, GroupSpec spec, GroupFault fault) {
        fault.throwIfBroken();
        SharedMemory memory = region.memory();
        int worldSize = memory.getInt(GroupDescriptor.WORLD_SIZE_OFFSET);
        int chunkByteSize = memory.getInt(GroupDescriptor.CHUNK_BYTE_SIZE_OFFSET);
        boolean isOtherOrder =
                memory.getInt(GroupDescriptor.SUMS_OFFSET) != spec.sums().fingerprint();
        if (worldSize == spec.worldSize() && chunkByteSize == spec.chunkByteSize() && !isOtherOrder) {
            return;
        }
        if (!isGathering(memory, worldSize)) {
            throw Failure.of(ErrorCode.REFUSED, "a group with this key is running or has run")
                    .with("key", spec.key())
                    .with("rank", spec.rank())
                    .with("worldSize", spec.worldSize())
                    .with("chunkByteSize", spec.chunkByteSize())
                    .with("otherWorldSize", worldSize)
                    .with("otherChunkByteSize", chunkByteSize)
                    .remedy("use a new key for each start of the ranks");
        }
        throw fault.breakBecause(
                ErrorCode.BAD_INPUT,
                "ranks ask for different process groups under one key: key=" + spec.key() + " rank=" + spec.rank()
                        + " pid="
                        + ProcessHandle.current().pid() + " worldSize=" + spec.worldSize() + " chunkByteSize="
                        + spec.chunkByteSize() + " otherWorldSize=" + worldSize + " otherChunkByteSize="
                        + chunkByteSize + (isOtherOrder ? " sumLayout=" + spec.sums() + " otherSumLayout=another" : "")
                        + "; start all ranks with the same settings");
    }

    /** Returns whether a rank has not joined. The size in the region is untrusted. */
    private static boolean isGathering(SharedMemory memory, int worldSize) {
        long lines = (memory.byteSize() - GroupDescriptor.LINES_OFFSET) / GroupDescriptor.LINE_LENGTH;
        long ranks = Math.min(worldSize, lines);
        for (int rank = 0; rank < ranks; rank++) {
            int state = memory.getIntVolatile(GroupDescriptor.line(rank) + GroupDescriptor.STATE_OFFSET);
            if (state == GroupDescriptor.STATE_ABSENT) {
                return true;
            }
        }
        return false;
    }
}
