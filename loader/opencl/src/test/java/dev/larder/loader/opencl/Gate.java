package dev.larder.loader.opencl;

import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import org.jocl.CL;
import org.jocl.NativePointerObject;
import org.jocl.Pointer;
import org.jocl.Sizeof;
import org.jocl.cl_context;
import org.jocl.cl_event;

/** An event that a test ends when it likes: what waits for it makes any device slow, in a way that can be foretold. */
final class Gate implements AutoCloseable {
    private final cl_event event;
    private boolean open;

    Gate(DeviceBackend backend) {
        this.event = CL.clCreateUserEvent(context(backend), null);
    }

    static cl_context context(DeviceBackend backend) {
        cl_context context = new cl_context();
        CL.clGetCommandQueueInfo(
                OpenClDevice.queue(backend.consumer()), CL.CL_QUEUE_CONTEXT, Sizeof.POINTER, Pointer.to(context), null);
        return context;
    }

    /** Lets nothing further of a queue begin. */
    Gate before(DeviceQueue queue) {
        try (Fence fence = fence()) {
            queue.waitFor(fence);
        }
        return this;
    }

    Fence fence() {
        return OpenClDevice.fence(event);
    }

    NativePointerObject event() {
        return event;
    }

    void open() {
        end(CL.CL_COMPLETE);
    }

    /** Ends the event as failed work ends. */
    void fail(int status) {
        end(status);
    }

    private void end(int status) {
        if (!open) {
            open = true;
            CL.clSetUserEventStatus(event, status);
        }
    }

    @Override
    public void close() {
        open();
        CL.clReleaseEvent(event);
    }
}
