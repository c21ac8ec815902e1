package dev.larder.loader.opencl;

import org.jocl.CL;
import org.jocl.cl_event;

/**
 * The references of a queue to events: of its last command, and of earlier commands until they end.
 *
 * <p>The earlier ones are held because PoCL 3.1 ends the process if work without a held event fails.
 */
final class Events {
    private long[] held = new long[16];
    private int first;
    private int count;
    private long last;
    private final int[] status = new int[1];

    /** Adds the event of a new command, and owns the reference. */
    void add(long event) {
        LiveObjects.added(LiveObjects.Kind.EVENT);
        if (last != 0) {
            hold(last);
        }
        last = event;
        releaseFinished();
    }

    private void hold(long event) {
        if (count == held.length && status(held[first], status) <= CL.CL_COMPLETE) {
            releaseFirst();
        }
        if (count == held.length) {
            long[] larger = new long[2 * count];
            for (int i = 0; i < count; i++) {
                larger[i] = held[(first + i) % count];
            }
            held = larger;
            first = 0;
        }
        held[(first + count++) % held.length] = event;
    }

    /** Releases the events of finished commands, which end in order. Holds failed ones longer, because the driver may still use them. */
    private void releaseFinished() {
        while (count > 0 && status(held[first], status) == CL.CL_COMPLETE) {
            releaseFirst();
        }
    }

    private void releaseFirst() {
        release(held[first]);
        first = (first + 1) % held.length;
        count--;
    }

    /** Returns whether all commands have ended or failed. */
    boolean areOver() {
        boolean over = last == 0 || status(last, status) <= CL.CL_COMPLETE;
        for (int i = 0; over && i < count; i++) { // if the last one failed, others may still run
            over = status(held[(first + i) % held.length], status) <= CL.CL_COMPLETE;
        }
        return over;
    }

    /** Releases all events. */
    void clear() {
        while (count > 0) {
            releaseFirst();
        }
        if (last != 0) {
            release(last);
            last = 0;
        }
    }

    /** Reads the state of an event: 0 if it has ended, negative if it failed. */
    static int status(long event, int[] value) {
        int code = LibOpenCl.clGetEventInfo(event, CL.CL_EVENT_COMMAND_EXECUTION_STATUS, Integer.BYTES, value, 0);
        return code == CL.CL_SUCCESS ? value[0] : code;
    }

    static void retain(cl_event event) {
        LiveObjects.added(LiveObjects.Kind.EVENT);
        LibOpenCl.clRetainEvent(event.getNativePointer());
    }

    static void release(long event) {
        LiveObjects.removed(LiveObjects.Kind.EVENT);
        LibOpenCl.clReleaseEvent(event);
    }
}
