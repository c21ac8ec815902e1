package dev.larder.distributed.shared;

/**
 * The words of a {@link SharedLock}. They are hints; the lock itself is the locks of two seats of its region.
 *
 * <pre>
 *   seat s      the lock itself: shared by readers, alone for the writer
 *   seat s + 1  the gate: a waiting thread holds it exclusively, and so is next
 *
 *     0                 4                 8                 12                16
 *    +-----------------------------------+-----------------------------------+
 *  0 | writer: pid while one writes      | abandoned by: pid of a writer that|
 *    |                                   | died writing, until repaired      |
 *    +-----------------------------------+-----------------+-----------------+
 * 16 | waiter: pid at the gate           | lock's bell     | gate's bell     |
 *    +-----------------------------------+-----------------+-----------------+
 * 32 | beat: counts the looks of the thread at the gate                      |
 *    +-----------------------------------------------------------------------+
 * 64 | pids of some readers, for messages: {@link #READERS} int64            |
 *    +-----------------------------------------------------------------------+
 * </pre>
 *
 * A writer sets {@code writer} after it has taken seat s, and clears it before it gives up the seat. A thread that takes the seat and finds
 * a pid there has found a dead writer. The next writer moves it to {@code abandoned by} before it writes its own.
 *
 * <p>The thread at the gate looks at the lock every 20 ms, and counts each look in {@code beat}. If that stays the same for 100 ms, the
 * thread is stopped, and others take the lock past it.
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
