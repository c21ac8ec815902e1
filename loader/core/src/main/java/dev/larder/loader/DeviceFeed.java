package dev.larder.loader;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.Fence;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where a {@link DeviceLoader} has its batches from: devices, or the host itself. */
interface DeviceFeed extends AutoCloseable {
    /** Begins an epoch of the host's loader; the one before ends, and its batches, but for those kept, are closed. */
    void start(Epoch epoch);

    /** Closes the batches before, but for those kept, and waits for the next one. */
    DeviceBatch next(Plan plan);

    /** Takes a batch back when fences are passed, one for each part; without any, when the consumer's queue has got there. */
    void release(DeviceBatch batch, Fence @Nullable [] lastUse);

    /** Ends an epoch, unless it has ended. */
    void end(Plan plan);

    /** Returns the devices; none where batches stay on the host. */
    List<DeviceInfo> devices();

    /** Returns how many bytes were uploaded for batches. */
    long uploadedBytes();

    @Override
    void close();
}
