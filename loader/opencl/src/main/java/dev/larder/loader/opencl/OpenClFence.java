package dev.larder.loader.opencl;

import dev.larder.loader.device.Fence;
import java.time.Duration;
import org.jocl.CL;
import org.jocl.cl_context;
import org.jocl.cl_event;
import org.jspecify.annotations.Nullable;

/** An event. Owns a reference to it. */
final class OpenClFence extends Fence {
    private final cl_context context;
    private final Health health;
    private final int[] value = new int[1];
    private int status = CL.CL_QUEUED;
    private @Nullable cl_event event;

    /** Owns a reference to an event. */
    OpenClFence(cl_context context, Health health, cl_event event) {
        this.context = context;
        this.health = health;
        this.event = event;
    }

    @Override
    public synchronized boolean isPassed() {
        cl_event waited = event;
        if (waited == null) {
            return true;
        }
        look(waited);
        if (status < 0) {
            throw health.workFailed(this, status);
        }
        return status == CL.CL_COMPLETE;
    }

    /** Reads the state of the event, unless it has ended. */
    private void look(cl_event waited) {
        if (status > CL.CL_COMPLETE) {
            status = Events.status(waited.getNativePointer(), value);
            if (status == CL.CL_COMPLETE) {
                // reading the state does not order memory; this call does, and returns immediately
                int code = Jocl.code(() -> CL.clWaitForEvents(1, new cl_event[] {waited}));
                status = code == CL.CL_SUCCESS ? status : code;
            }
        }
    }

    /** Returns whether queues of a context can wait for this. */
    boolean isOf(cl_context queueContext) {
        return context.equals(queueContext);
    }

    /** Waits even if the thread is interrupted, and keeps its interrupt flag; returns whether this is signalled. */
    boolean awaitUninterruptibly(Duration timeout) {
        boolean interrupted = false;
        long start = System.nanoTime();
        long waited = 0;
        try {
            while (!isPassed() && waited <= timeout.toNanos()) {
                interrupted |= Thread.interrupted();
                pause(waited);
                waited = System.nanoTime() - start;
            }
            return isPassed();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns the event, with a reference for the caller, or null if it is signalled. Fails if it failed. */
    synchronized @Nullable cl_event retainedUnlessPassed(cl_context queueContext) {
        if (!isOf(queueContext)) {
            throw new IllegalArgumentException("fence belongs to another device: fence=" + this);
        }
        if (isPassed()) {
            return null;
        }
        cl_event waited = event;
        if (waited != null) {
            Events.retain(waited);
        }
        return waited;
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
            Events.release(released.getNativePointer());
        }
    }

    @Override
    public String toString() {
        return "OpenClFence{status=" + status + "}";
    }
}
