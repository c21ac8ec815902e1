package dev.larder.loader.cuda.device;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.cuda.LibCuda;
import dev.larder.loader.internal.device.NativeSession;
import org.jspecify.annotations.Nullable;

/** A recorded event: of the session, which gets it back, or of the consumer. */
final class CudaFence extends Fence {
    private static final int NOT_READY = 600;

    private final CudaSession session;
    private final boolean own;
    private long event;
    private int result = NOT_READY;

    CudaFence(CudaSession session, long event, boolean own) {
        this.session = session;
        this.event = event;
        this.own = own;
    }

    @Override
    public synchronized boolean isPassed() {
        if (event == 0 || session.state() == NativeSession.State.CLOSED) { // a backend closes when its work is done
            return true;
        }
        if (result == NOT_READY) {
            result = query();
        }
        if (result != 0 && result != NOT_READY) {
            throw session.health().workFailed(this, result);
        }
        return result == 0;
    }

    private int query() {
        session.enter();
        try {
            return LibCuda.cuEventQuery(event);
        } finally {
            session.leave();
        }
    }

    /** Returns the event, or 0 if it is signalled. Fails if its work failed. */
    synchronized long eventUnlessPassed(CudaSession waiting) {
        if (!session.sharesContextWith(waiting)) {
            throw new IllegalArgumentException("fence belongs to another device: fence=" + this);
        }
        return isPassed() ? 0 : event;
    }

    /** Returns whether queues of a session can wait for this. */
    boolean isOf(CudaSession waiting) {
        return session.sharesContextWith(waiting);
    }

    synchronized long event() {
        return event;
    }

    @Override
    public @Nullable Object nativeObject() {
        return null;
    }

    @Override
    public synchronized void close() {
        if (event != 0 && own) {
            session.events.giveBack(event);
        }
        event = 0;
    }

    @Override
    public String toString() {
        return "CudaFence{result=" + result + "}";
    }
}
