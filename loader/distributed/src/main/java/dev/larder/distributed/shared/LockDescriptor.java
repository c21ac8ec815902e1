package dev.larder.distributed.shared;

/**
 * Specifies the words of a {@link SharedLock}, which are hints beside the truth: the locks of two seats of its region.
 *
 * <pre>
 *   seat s      the lock itself: shared by readers, alone for the writer
 *   seat s + 1  the gate: whoever has to wait for the lock holds it alone meanwhile, and so is next
 *
 *     0                 4                 8                 12                16
 *    +-----------------------------------+-----------------------------------+
 *  0 | writer: pid while one writes      | abandoned by: pid of a writer that|
 *    |                                   | died writing, until repaired      |
 *    +-----------------------------------+-----------------+-----------------+
 * 16 | waiter: pid of who has the gate   | lock's bell     | gate's bell     |
 *    +-----------------------------------+-----------------+-----------------+
 * 32 | beat: counts the looks of whoever has the gate                        |
 *    +-----------------------------------------------------------------------+
 * 64 | pids of some of those who read, for messages: {@link #READERS} int64  |
 *    +-----------------------------------------------------------------------+
 * </pre>
 *
 * A writer sets {@code writer} once it has seat s, and clears it before it gives that seat up: whoever has the seat and finds a pid
 * there knows that this one died. The next writer moves it to {@code abandoned by} before it writes its own.
 *
 * <p>Whoever has the gate looks at the lock every 20 ms, and counts each look in {@code beat}. Where that stays as it is for 100 ms,
 * the one who has the gate is stopped, and others take the lock past it.
 */
final class LockDescriptor {
    static final int WRITER_OFFSET = 0;
    static final int ABANDONED_BY_OFFSET = WRITER_OFFSET + Long.BYTES;
    static final int WAITER_OFFSET = ABANDONED_BY_OFFSET + Long.BYTES;
    static final int LOCK_BELL_OFFSET = WAITER_OFFSET + Long.BYTES;
    static final int GATE_BELL_OFFSET = LOCK_BELL_OFFSET + Integer.BYTES;
    static final int BEAT_OFFSET = 32;
    static final int READERS_OFFSET = 64;
    static final int READERS = 24;
    static final int LENGTH = READERS_OFFSET + READERS * Long.BYTES;

    static final int SEATS = 2;

    private LockDescriptor() {}
}
