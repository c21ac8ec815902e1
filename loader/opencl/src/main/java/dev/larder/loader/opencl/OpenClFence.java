package dev.larder.loader.opencl;

import dev.larder.loader.device.Fence;
import org.jocl.CL;
import org.jocl.cl_command_queue;
import org.jocl.cl_context;
import org.jocl.cl_event;
import org.jspecify.annotations.Nullable;

/** An event, of which this owns one reference. */
final class OpenClFence extends Fence {
    private final cl_context context;
    private final Health health;
    private final int[] status = {CL.CL_QUEUED};
    private @Nullable cl_event event;

    OpenClFence(cl_context context, Health health, cl_event event) {
        this.context = context;
        this.health = health;
        this.event = event;
        LiveObjects.added(LiveObjects.Kind.EVENT);
    }

    @Override
    public synchronized boolean isPassed() {
        cl_event waited = event;
        if (waited == null) {
            return true;
        }
        look(waited);
        if (status[0] < 0) {
            throw health.workFailed(this, status[0]);
        }
        return status[0] == CL.CL_COMPLETE;
    }

    /** Asks for the state of the event, unless it is known to be over. */
    private void look(cl_event waited) {
        if (status[0] <= CL.CL_COMPLETE) {
            return;
        }
        int code = LibOpenCl.clGetEventInfo(
                waited.getNativePointer(), CL.CL_EVENT_COMMAND_EXECUTION_STATUS, Integer.BYTES, status, 0);
        if (code != CL.CL_SUCCESS) {
            throw health.failed("clGetEventInfo", code).with("fence", this).exception();
        }
        if (status[0] == CL.CL_COMPLETE) {
            // a look at the state promises nothing about memory, this does, and returns at once
            Jocl.code(() -> CL.clWaitForEvents(1, new cl_event[] {waited}));
        }
    }

    /** Has a queue do nothing further before this is passed. */
    synchronized void holdBack(cl_context queueContext, cl_command_queue queue) {
        if (!context.equals(queueContext)) {
            throw new IllegalArgumentException("a fence of another device's queue: " + this);
        }
        cl_event waited = event;
        if (waited == null) {
            return;
        }
        look(waited);
        if (status[0] == CL.CL_COMPLETE) {
            return;
        }
        cl_event[] events = {waited};
        int code = Jocl.code(() -> CL.clEnqueueBarrierWithWaitList(queue, 1, events, null));
        if (code != CL.CL_SUCCESS) {
            throw health.failed("clEnqueueBarrierWithWaitList", code)
                    .with("fence", this)
                    .exception();
        }
    }

    @Override
    public synchronized @Nullable cl_event nativeObject() {
        return event;
    }

    @Override
    public synchronized void close() {
        cl_event released = event;
        if (released != null) {
            event = null;
            LiveObjects.removed(LiveObjects.Kind.EVENT);
            Jocl.code(() -> CL.clReleaseEvent(released));
        }
    }

    @Override
    public String toString() {
        return "OpenClFence{status=" + status[0] + "}";
    }
}
