package dev.larder.loader.internal.device;

import dev.larder.loader.device.DeviceQueue;
import java.nio.ByteBuffer;
import java.time.Duration;

/** A queue that the loader gives its work to. Methods return before the work is done, but for {@link #read} and {@link #drain}. */
public interface WorkQueue extends DeviceQueue {
    /** Copies from memory of the host, which stays unchanged until a fence after it is passed. Never creates a thread. */
    void upload(HostMemory from, long fromOffset, DeviceMemory to, long toOffset, long byteSize);

    /** Runs a kernel for the first so many samples. */
    void launch(DeviceKernel.Call call, int samples);

    /** Copies from the device into a direct buffer, between its position and limit, and waits until that is done. */
    void read(DeviceMemory from, long fromOffset, ByteBuffer target);

    /**
     * Waits until no work is under way any more, done or failed, also if the device is lost. Returns whether that is so in time. Never
     * throws.
     */
    boolean drain(Duration timeout);
}
