package dev.larder.internal.time;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** The pauses of a loop that looks again and again: each is twice as long as the one before, up to the longest. For one thread. */
public final class Backoff {
    private final long longestNs;
    private long nextNs;

    /** Begins with the shortest pause. */
    public Backoff(Duration first, Duration longest) {
        this.nextNs = first.toNanos();
        this.longestNs = longest.toNanos();
    }

    /** Pauses, but not beyond the deadline. Returns false where this thread was interrupted, which it stays. */
    public boolean pause(Deadline deadline) {
        LockSupport.parkNanos(Math.min(nextNanos(), deadline.remainingNanos()));
        return !Thread.currentThread().isInterrupted();
    }

    /** Returns the length of the next pause in milliseconds, for callers that pause in another way; never 0. */
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
