package dev.larder.loader.opencl;

import java.util.Arrays;
import org.jocl.cl_event;
import org.jspecify.annotations.Nullable;

/** The events that the next command of a queue waits for. Owns a reference to each. */
final class WaitList {
    private cl_event[] events = new cl_event[4];
    private long[] handles = new long[4];
    private int count;

    /** Adds an event, and owns the reference. */
    void add(cl_event event) {
        if (count == events.length) {
            events = Arrays.copyOf(events, 2 * count);
            handles = Arrays.copyOf(handles, 2 * count);
        }
        events[count] = event;
        handles[count++] = event.getNativePointer();
    }

    int count() {
        return count;
    }

    /** Returns the events, the first {@link #count} of the array; null if there are none, as OpenCL requires. */
    cl_event @Nullable [] events() {
        return count == 0 ? null : events;
    }

    /** Returns the events as handles. */
    long @Nullable [] handles() {
        return count == 0 ? null : handles;
    }

    /** Releases the references after a command has its own. */
    void clear() {
        for (; count > 0; count--) {
            Events.release(handles[count - 1]);
        }
    }
}
