package dev.larder.loader.opencl;

import java.util.Arrays;
import org.jocl.cl_event;
import org.jspecify.annotations.Nullable;

/** What the next command of a queue waits for; a reference to each event. */
final class WaitList {
    private cl_event[] events = new cl_event[4];
    private long[] handles = new long[4];
    private int count;

    /** Takes over a reference. */
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

    /** Returns the events, the first {@link #count} of this; nothing where there are none, as OpenCL wants it. */
    cl_event @Nullable [] events() {
        return count == 0 ? null : events;
    }

    /** Returns the same as handles. */
    long @Nullable [] handles() {
        return count == 0 ? null : handles;
    }

    /** Gives up the references, once a command has its own. */
    void clear() {
        for (; count > 0; count--) {
            Events.release(handles[count - 1]);
        }
    }
}
