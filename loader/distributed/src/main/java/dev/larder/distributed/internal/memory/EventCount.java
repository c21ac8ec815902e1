package dev.larder.distributed.internal.memory;

import java.lang.invoke.VarHandle;

/**
 * An event count: a word of shared memory at which threads sleep until another one rings. If a thread is killed before it wakes the others,
 * they sleep until their own time is up. So sleeps are a few milliseconds, and each is followed by another look.
 *
 * <pre>
 *   waiting:  heard = events.listen(); check the condition; events.sleep(heard, …); check again
 *   ringing:  change the condition; events.ring()
 * </pre>
 *
 * The word counts rings in steps of 2; its lowest bit is set while a thread listens. It is zero at first. Thread-safe.
 */
public final class EventCount {
    private static final int LISTENED_TO = 1;

    private final SharedMemory memory;
    private final long offset;

    /** Uses four bytes of zeros at a multiple of four. */
    public EventCount(SharedMemory memory, long offset) {
        this.memory = memory;
        this.offset = offset;
    }

    /** Requests a ring, and returns the value to sleep on. The caller checks its condition again before it sleeps. */
    public int listen() {
        while (true) {
            int heard = memory.getIntVolatile(offset);
            if ((heard & LISTENED_TO) != 0) {
                return heard;
            }
            if (memory.compareAndSetInt(offset, heard, heard | LISTENED_TO)) {
                return heard | LISTENED_TO;
            }
        }
    }

    /** Sleeps until a ring since {@link #listen}, until the timeout, or spuriously. */
    public void sleep(int heard, long timeoutNs) {
        memory.sleepWhile(offset, heard, timeoutNs);
    }

    /** Wakes all listeners; only reads if there is none. */
    public void ring() {
        VarHandle.fullFence(); // a thread that listens after this read sees the change
        int heard = memory.getIntVolatile(offset);
        if ((heard & LISTENED_TO) != 0 && memory.compareAndSetInt(offset, heard, heard + LISTENED_TO)) {
            memory.wake(offset, Integer.MAX_VALUE);
        }
    }
}
