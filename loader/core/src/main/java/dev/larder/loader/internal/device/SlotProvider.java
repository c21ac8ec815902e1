package dev.larder.loader.internal.device;

import dev.larder.loader.device.HostSlots;
import dev.larder.npy.Dtype;
import java.util.List;

/** Provides the memory of slots that are not the loader's own. */
public interface SlotProvider extends HostSlots {
    /**
     * One array of every batch.
     *
     * @param byteSize its length in a full batch; no batch has more
     */
    record Part(String name, Dtype dtype, long byteSize) {}

    /**
     * Makes the slots for batches of these arrays. A loader calls it once, when it is built.
     *
     * @return for each slot an allocator, which is asked for the memory of each array in their order
     */
    List<HostAllocator> open(List<Part> arrays);

    /**
     * Returns the slot for the first batch of an epoch that begins now; later batches follow in turn. A loader fills a slot when its
     * batch before is closed, by the publisher. From any thread, concurrently.
     */
    int first();
}
