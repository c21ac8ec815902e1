package dev.larder.loader.device;

import dev.larder.npy.Dtype;
import java.util.List;

/**
 * Memory of somebody else into which a loader gathers its batches, such as the slots of a ring that other processes read. Belongs to
 * who made it, and outlives the loader.
 */
public interface HostSlots {
    /**
     * One array that every batch has.
     *
     * @param byteSize how long it is in a full batch; no batch has more
     */
    record SlotArray(String name, Dtype dtype, long byteSize) {}

    /**
     * Makes the slots for batches of these arrays. A loader calls it once, when it is built.
     *
     * @return for each slot an allocator, which is asked for the memory of each array in their order
     */
    List<HostAllocator> open(List<SlotArray> arrays);

    /**
     * Returns the slot for the first batch of an epoch that begins now; those after it follow in turn. A loader fills a slot when
     * the batch before in it is closed, which it leaves to whoever takes the batches. From any thread, at once.
     */
    int first();
}
