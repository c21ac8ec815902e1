package dev.larder.server.reader;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The readers that wait to write the data they have found: few, for any number of sources. A reader that ends here is started again for its data.
 * Thread-safe.
 */
final class IdleReaders {
    private static final int MOST = 2;

    private static final Deque<ReaderSource> WAITING = new ArrayDeque<>();

    private IdleReaders() {}

    /** Adds a reader. If there are too many, the one that has waited longest ends. */
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
