package dev.larder.server.reader;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The readers that have looked and wait to be asked for data: few, whatever the number of sources. One that has to end is started again
 * when its data is wanted. Thread-safe.
 */
final class IdleReaders {
    private static final int MOST = 2;

    private static final Deque<ReaderSource> WAITING = new ArrayDeque<>();

    private IdleReaders() {}

    /** Adds one; the one that has waited longest ends where there are too many. */
    static void add(ReaderSource source) {
        ReaderSource longest;
        synchronized (WAITING) {
            WAITING.add(source);
            longest = WAITING.size() > MOST ? WAITING.poll() : null;
        }
        if (longest != null) {
            longest.endProcess();
        }
    }

    /** Removes one that is busy again, or closed. */
    static void remove(ReaderSource source) {
        synchronized (WAITING) {
            WAITING.remove(source);
        }
    }
}
