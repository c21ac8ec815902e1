package dev.larder.loader.internal.device;

import dev.larder.loader.device.HostSlots;
import dev.larder.npy.Dtype;
import java.util.List;

/** Provides slots in memory that the loader does not own. */
public interface SlotProvider extends HostSlots {
    /**
     * One array of every batch.
     *
     * @param byteSize its size in a full batch, in bytes
     */
    record Part(String name, Dtype dtype, long byteSize) {}

    /**
     * Creates the slots for batches of these arrays. The loader calls it once, when it is built.
     *
     * @return an allocator for each slot; the loader allocates the memory of each array from it, in the order of {@code arrays}
     */
    List<HostAllocator> open(List<Part> arrays);

    /** Returns the name of the feed that publishes the batches. */
    String name();

    /**
     * Returns the slot for the first batch of an epoch that begins now; later batches use the next slots in turn. The loader refills
     * a slot after the publisher has closed its previous batch. Thread-safe.
     */
    int first();
}
