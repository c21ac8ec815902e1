package dev.larder.internal.time;

import java.time.Duration;

/** The end of a wait, on the clock of {@link System#nanoTime}, which never jumps. Immutable. */
public final class Deadline {
    /** The length of an unlimited wait: a century, which never overflows when added to the clock. */
    public static final Duration FOREVER = Duration.ofDays(36_500);

    private static final Deadline NONE = after(FOREVER);

    private final Duration timeout;
    private final long endNs;

    private Deadline(Duration timeout, long endNs) {
        this.timeout = timeout;
        this.endNs = endNs;
    }

    /** Returns the end of a wait that begins now: immediately if the timeout is negative, never if it is a century or more. */
    public static Deadline after(Duration timeout) {
        return after(timeout, System.nanoTime());
    }

    /**
     * Returns the end of a wait that began at this reading of {@link System#nanoTime}. With it, a wait that rarely blocks
     * creates its deadline only when it does.
     */
    public static Deadline after(Duration timeout, long startNs) {
        return new Deadline(timeout, startNs + nanos(timeout));
    }

    /** Returns the deadline of an unlimited wait. */
    public static Deadline none() {
        return NONE;
    }

    /** Returns a timeout in nanoseconds, from 0 to {@link #FOREVER}. For waits that must not allocate. */
    public static long nanos(Duration timeout) {
        return timeout.isNegative() ? 0 : (timeout.compareTo(FOREVER) < 0 ? timeout : FOREVER).toNanos();
    }

    /** Returns the length of the whole wait, for messages. */
    public Duration timeout() {
        return timeout;
    }

    /** Returns whether the deadline has passed. */
    public boolean isOver() {
        return remainingNanos() == 0;
    }

    /** Returns the time left in nanoseconds, or 0 after the deadline. */
    public long remainingNanos() {
        return Math.max(0, endNs - System.nanoTime());
    }

    /** Returns the time left in milliseconds, rounded up and never 0, because 0 means forever to a selector. */
    public long remainingMillis() {
        return remainingNanos() / 1_000_000 + 1;
    }

    /** Returns the time left, or zero after the deadline. */
    public Duration remaining() {
        return Duration.ofNanos(remainingNanos());
    }
}
