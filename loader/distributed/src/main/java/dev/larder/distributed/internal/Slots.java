package dev.larder.distributed.internal;

import dev.larder.distributed.internal.memory.SharedMemory;

/** The slots for chunks: each rank has a few, and uses the next one in each step. */
public final class Slots {
    private final SharedMemory memory;
    private final long start;
    private final int rank;
    private final int worldSize;
    private final int chunkByteSize;

    /** Finds the slots of a group in its memory. */
    public Slots(SharedMemory memory, GroupSpec spec) {
        this.memory = memory;
        this.rank = spec.rank();
        this.worldSize = spec.worldSize();
        this.chunkByteSize = spec.chunkByteSize();
        long offset = GroupDescriptor.slots(worldSize);
        this.start = memory.address(offset, GroupDescriptor.byteSize(worldSize, chunkByteSize) - offset);
    }

    /** Returns the address of the slot that a rank fills in a step; valid while this object can be reached. */
    public long at(int ofRank, int step) {
        int depth = step & (GroupDescriptor.DEPTH - 1);
        return start + ((long) ofRank * GroupDescriptor.DEPTH + depth) * chunkByteSize;
    }

    /** Checks at the end of a call that the addresses of slots were valid: the memory was not closed. */
    public void requireOpen() {
        if (memory.isClosed()) {
            throw new IllegalStateException("process group was closed in a call");
        }
    }

    public int rank() {
        return rank;
    }

    public int worldSize() {
        return worldSize;
    }

    public int chunkByteSize() {
        return chunkByteSize;
    }
}
