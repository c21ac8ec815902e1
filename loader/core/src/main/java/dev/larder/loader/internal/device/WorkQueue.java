package dev.larder.loader.internal.device;

import dev.larder.loader.device.DeviceQueue;
import java.nio.ByteBuffer;
import java.time.Duration;

/** A queue for the loader's work. Methods return before the work is done, except {@link #read} and {@link #drain}. */
public interface WorkQueue extends DeviceQueue {
    /** Copies from host memory, which must stay unchanged until a later fence has passed. Never creates a thread. */
    void upload(HostMemory from, long fromOffset, DeviceMemory to, long toOffset, long byteSize);

    /** Runs a kernel for the first {@code samples} samples. */
    void launch(DeviceKernel.Call call, int samples);

    /** Copies from the device into a direct buffer, between its position and limit. Waits until the copy is done. */
    void read(DeviceMemory from, long fromOffset, ByteBuffer target);

    /**
     * Waits until all work has ended, successfully or not, even if the device is lost. Returns false after a timeout. Never throws.
     */
    boolean drain(Duration timeout);
}
