package dev.larder.loader.cuda.device;

import dev.larder.loader.internal.cuda.LibCuda;
import java.util.Arrays;

/**
 * A pool of the events of a session: to create an event for every fence would cost more than to record it. A wait covers the work that
 * was recorded before it, so a returned event may be recorded again immediately.
 */
final class CudaEvents {
    /** Waits of the host do not spin, and events have no times. */
    private static final int BLOCKING_SYNC_WITHOUT_TIMING = 1 | 2;

    private final CudaSession session;
    private long[] all = new long[16];
    private int created;
    private long[] unused = new long[16];
    private int unusedCount;
    private boolean closed;

    CudaEvents(CudaSession session) {
        this.session = session;
    }

    /** Returns an unused event. Call it in the context. */
    synchronized long take() {
        if (unusedCount > 0) {
            return unused[--unusedCount];
        }
        long[] event = new long[1];
        session.require("cuEventCreate", LibCuda.cuEventCreate(event, BLOCKING_SYNC_WITHOUT_TIMING));
        if (created == all.length) {
            all = Arrays.copyOf(all, 2 * created);
            unused = Arrays.copyOf(unused, 2 * created);
        }
        all[created++] = event[0];
        return event[0];
    }

    synchronized void giveBack(long event) {
        if (!closed) {
            unused[unusedCount++] = event;
        }
    }

    /** Destroys all events, even those in use. */
    synchronized void close() {
        closed = true;
        for (int i = 0; i < created; i++) {
            long event = all[i];
            session.free("cuEventDestroy", () -> LibCuda.cuEventDestroy_v2(event));
        }
        created = 0;
    }
}
