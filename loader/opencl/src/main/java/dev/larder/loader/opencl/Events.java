package dev.larder.loader.opencl;

import org.jocl.CL;
import org.jocl.cl_event;

/**
 * The references to events that belong to a queue: to that of its last command, and to those of the commands before, until they
 * are over.
 *
 * <p>Nobody would need the latter, but PoCL 3.1 ends the process where work fails whose event nobody holds.
 */
final class Events {
    private long[] held = new long[16];
    private int first;
    private int count;
    private long last;
    private final int[] status = new int[1];

    /** Takes over the reference to the event of a new command. */
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

    /** Commands end in their order. What failed is kept for a while: the driver may still be at it. */
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

    /** Tells whether all commands are over, done or failed. */
    boolean areOver() {
        boolean over = last == 0 || status(last, status) <= CL.CL_COMPLETE;
        for (int i = 0; over && i < count; i++) { // where the last one failed, others may still be under way
            over = status(held[(first + i) % held.length], status) <= CL.CL_COMPLETE;
        }
        return over;
    }

    /** Gives up all. */
    void clear() {
        while (count > 0) {
            releaseFirst();
        }
        if (last != 0) {
            release(last);
            last = 0;
        }
    }

    /** Asks how far an event is: 0 when it is over, below where it failed. */
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
