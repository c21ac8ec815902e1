package dev.larder.loader.device;

import org.jspecify.annotations.Nullable;

/**
 * Work for a device, done in the order in which it is given. From any thread. A call that fails is {@code UNEXPECTED}, with the
 * device's name for the failure; failures of work show in the fences after it.
 */
public interface DeviceQueue {
    /** Makes all later work wait for a fence of any queue of the same loader, or for a passed one. */
    void waitFor(Fence fence);

    /** Returns a fence that is passed when all work so far is done, and sends that work to the device. The caller closes it. */
    Fence fence();

    /** Returns the object for Java libraries, JOCL's {@code cl_command_queue}, or null if there is none. */
    @Nullable
    Object nativeObject();
}
