package dev.larder.loader.internal.slot;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import org.jspecify.annotations.Nullable;

/** The part of a batch on one device, or the whole batch in host memory. */
public interface SlotPart {
    /** Returns the device, or null for the host. */
    @Nullable
    DeviceBackend device();

    /** Returns the number of the first sample of this part. */
    int firstSample();

    /** Returns the number of samples of this part. */
    int size();

    /** Returns the fence that is signalled when the samples are complete. */
    Fence ready();

    /** Returns an array by its index. */
    ArrayMemory array(int place);
}
