package dev.larder.internal.time;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** The pauses of a polling loop. Each is twice as long as the one before, up to a limit. Not thread-safe. */
public final class Backoff {
    private final long longestNs;
    private long nextNs;

    /** Starts with the shortest pause. */
    public Backoff(Duration first, Duration longest) {
        this.nextNs = first.toNanos();
        this.longestNs = longest.toNanos();
    }

    /** Pauses, at most until the deadline. Returns false if this thread was interrupted, and keeps its interrupt status. */
    public boolean pause(Deadline deadline) {
        LockSupport.parkNanos(Math.min(nextNanos(), deadline.remainingNanos()));
        return !Thread.currentThread().isInterrupted();
    }

    /** Returns the length of the next pause in milliseconds, at least 1, for callers that pause in another way. */
    public long nextMillis() {
        return Math.max(1, nextNanos() / 1_000_000);
    }

    /** Returns the end of the next pause, which begins now. */
    public Deadline next() {
        return Deadline.after(Duration.ofNanos(nextNanos()));
    }

    private long nextNanos() {
        long pauseNs = nextNs;
        nextNs = Math.min(2 * pauseNs, longestNs);
        return pauseNs;
    }
}
