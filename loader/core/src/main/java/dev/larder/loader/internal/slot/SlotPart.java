package dev.larder.loader.internal.slot;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import org.jspecify.annotations.Nullable;

/** What one device has of a batch, or all of it in memory of the host. */
public interface SlotPart {
    /** Returns the device; nothing for the host. */
    @Nullable
    DeviceBackend device();

    /** Returns which sample of the batch is the first one here. */
    int firstSample();

    /** Returns how many samples are here. */
    int size();

    /** Returns the fence that is passed when the samples are complete. */
    Fence ready();

    /** Returns an array by its place among those of batches. */
    ArrayMemory array(int place);
}
