package dev.larder.loader.device;

import org.jspecify.annotations.Nullable;

/**
 * A queue of device work, which runs in submission order. Thread-safe. A failed call throws {@code UNEXPECTED} with the driver's
 * name for the error; failures of the work itself appear in later fences.
 */
public interface DeviceQueue {
    /** Makes all later work wait for a fence, which must have passed or come from a queue of the same loader. */
    void waitFor(Fence fence);

    /** Sends all work so far to the device, and returns a fence that passes when it is done. The caller closes the fence. */
    Fence fence();

    /** Returns the object for Java libraries, JOCL's {@code cl_command_queue}, or null if there is none. */
    @Nullable
    Object nativeObject();
}
