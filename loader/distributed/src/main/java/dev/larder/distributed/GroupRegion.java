package dev.larder.distributed;

import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.RegionSpec;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.region.SharedMemory;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;

/** Opens the region of a group, and finds out where ranks want different groups of one name. */
final class GroupRegion {
    private GroupRegion() {}

    /** Opens it, and lays it out where this rank comes first. */
    static Region open(Regions regions, GroupSpec spec) {
        RegionSpec wanted = spec.region();
        try {
            return regions.openOrCreate(
                    wanted, memory -> layOut(memory, spec), spec.waits().toJoin());
        } catch (LarderException e) {
            if (e.code() == ErrorCode.REFUSED) {
                tellTheOthers(regions, spec, wanted);
            }
            throw e;
        }
    }

    private static void layOut(SharedMemory memory, GroupSpec spec) {
        memory.putInt(GroupDescriptor.WORLD_SIZE_OFFSET, spec.worldSize());
        memory.putInt(GroupDescriptor.CHUNK_BYTE_SIZE_OFFSET, spec.chunkByteSize());
    }

    /** One of another size is there: where it is that of a group, its ranks hear why this one does not come. */
    private static void tellTheOthers(Regions regions, GroupSpec spec, RegionSpec wanted) {
        try (Region other =
                regions.open(wanted.name(), wanted.kind(), spec.waits().toJoin())) {
            requireSame(other, spec, new GroupFault(other.memory(), spec.rank()));
        }
    }

    /** Breaks the group where this rank wants another one than whoever laid it out. */
    static void requireSame(Region region, GroupSpec spec, GroupFault fault) {
        fault.throwIfBroken();
        int worldSize = region.memory().getInt(GroupDescriptor.WORLD_SIZE_OFFSET);
        int chunkByteSize = region.memory().getInt(GroupDescriptor.CHUNK_BYTE_SIZE_OFFSET);
        if (worldSize != spec.worldSize() || chunkByteSize != spec.chunkByteSize()) {
            throw fault.breakBecause(
                    ErrorCode.BAD_INPUT,
                    "ranks want different process groups of one key: key=" + spec.key() + " rank=" + spec.rank()
                            + " pid=" + ProcessHandle.current().pid() + " worldSize=" + spec.worldSize()
                            + " chunkByteSize=" + spec.chunkByteSize() + " otherWorldSize=" + worldSize
                            + " otherChunkByteSize=" + chunkByteSize + "; start all ranks with the same settings");
        }
    }
}
