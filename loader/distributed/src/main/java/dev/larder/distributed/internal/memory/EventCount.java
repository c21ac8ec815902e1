package dev.larder.distributed.internal.memory;

import java.lang.invoke.VarHandle;

/**
 * An event count: a word of shared memory at which those who wait sleep until somebody rings. Nothing in it can be left behind in a
 * way that keeps others waiting for long: who is killed on the way to waking them leaves them asleep until their own time is up. So
 * sleeps are short, some milliseconds, and whoever waits looks again after each.
 *
 * <pre>
 *   waiting:  heard = events.listen(); look whether it is time; events.sleep(heard, …); look again
 *   ringing:  change what they wait for; events.ring()
 * </pre>
 *
 * The word counts rings in steps of 2; its lowest bit says that somebody listens. Zero at first. Thread-safe.
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

    /** Asks to be rung for, and returns what to sleep on. Whoever waits looks once more before sleeping. */
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

    /** Sleeps until it rings, or has rung since {@link #listen}; until time is up, soon; or for no reason. */
    public void sleep(int heard, long timeoutNs) {
        memory.sleepWhile(offset, heard, timeoutNs);
    }

    /** Wakes everybody who listens; only reads where nobody does. */
    public void ring() {
        VarHandle.fullFence(); // what was changed is seen by those who listen only after this has read the word
        int heard = memory.getIntVolatile(offset);
        if ((heard & LISTENED_TO) != 0 && memory.compareAndSetInt(offset, heard, heard + LISTENED_TO)) {
            memory.wake(offset, Integer.MAX_VALUE);
        }
    }
}
