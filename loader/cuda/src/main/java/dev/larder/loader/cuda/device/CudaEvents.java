package dev.larder.loader.cuda.device;

import dev.larder.loader.internal.cuda.LibCuda;
import java.util.Arrays;

/**
 * The events of a session, used again and again: creating one for every fence would cost more than recording it. What waits for an
 * event waits for what was recorded in it by then, so one that is given back may be recorded again at once.
 */
final class CudaEvents {
    /** A host that waits does so without spinning, and nobody asks for the time. */
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

    /** Returns an event that nobody else has; to be called in the context. */
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

    /** Destroys all, also those that somebody still has. */
    synchronized void close() {
        closed = true;
        for (int i = 0; i < created; i++) {
            long event = all[i];
            session.free("cuEventDestroy", () -> LibCuda.cuEventDestroy_v2(event));
        }
        created = 0;
    }
}
