package dev.larder.loader.device;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Work for a device, done in the order in which it is given. Methods return before the work is done, but for {@link #read}. From
 * any thread. Failures of the call itself are thrown, {@code UNEXPECTED} with the device's name for them;
 * those of the work show in the fences after it.
 */
public interface DeviceQueue {
    /** Copies from memory of the host, which stays unchanged until a fence after it is passed. Never creates a thread. */
    void upload(HostMemory from, long fromOffset, DeviceMemory to, long toOffset, long byteSize);

    /** Runs a kernel for the first so many samples. */
    void launch(DeviceKernel.Call call, int samples);

    /** Lets what is given from now on wait for a fence, of any queue of this backend or one that is passed. */
    void waitFor(Fence fence);

    /** Returns a fence that is passed when everything given so far is done, and sees that it gets going. The caller closes it. */
    Fence fence();

    /** Copies from the device into a direct buffer, between its position and limit, and waits until that is done. */
    void read(DeviceMemory from, long fromOffset, ByteBuffer target);

    /**
     * Waits until nothing is under way any more of what was given, done or failed, also where the device is lost; tells whether that is
     * so in time. Never throws.
     */
    boolean drain(Duration timeout);

    /** Returns what Java libraries call it: JOCL's {@code cl_command_queue}; nothing where there is no such object. */
    @Nullable
    Object nativeObject();
}
