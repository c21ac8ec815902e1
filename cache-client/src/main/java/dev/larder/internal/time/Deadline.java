package dev.larder.internal.time;

import java.time.Duration;

/** The point in time at which a wait ends, by the clock of {@link System#nanoTime}, which nobody sets. Immutable. */
public final class Deadline {
    /** How long a wait without an end is: a century, which can be added to any reading of the clock without an overflow. */
    public static final Duration FOREVER = Duration.ofDays(36_500);

    private static final Deadline NONE = after(FOREVER);

    private final Duration timeout;
    private final long endNs;

    private Deadline(Duration timeout, long endNs) {
        this.timeout = timeout;
        this.endNs = endNs;
    }

    /** Returns when a wait that begins now ends: at once where the timeout is negative, never where it is a century or more. */
    public static Deadline after(Duration timeout) {
        return after(timeout, System.nanoTime());
    }

    /**
     * Returns when a wait ends that began at this reading of {@link System#nanoTime}: a wait that rarely blocks creates its deadline
     * only when it does.
     */
    public static Deadline after(Duration timeout, long beganNs) {
        return new Deadline(timeout, beganNs + nanos(timeout));
    }

    /** Returns the deadline of a wait without an end. */
    public static Deadline none() {
        return NONE;
    }

    /** Returns how long a timeout is: not less than 0, and not more than {@link #FOREVER}. For waits that must not allocate. */
    public static long nanos(Duration timeout) {
        return timeout.isNegative() ? 0 : (timeout.compareTo(FOREVER) < 0 ? timeout : FOREVER).toNanos();
    }

    /** Returns the length of the whole wait, for messages. */
    public Duration timeout() {
        return timeout;
    }

    /** Tells whether time is up. */
    public boolean isOver() {
        return remainingNanos() == 0;
    }

    /** Returns how long to wait still; 0 once time is up. */
    public long remainingNanos() {
        return Math.max(0, endNs - System.nanoTime());
    }

    /** Returns how long to wait still, rounded up and never 0, because a selector takes 0 for a wait without an end. */
    public long remainingMillis() {
        return remainingNanos() / 1_000_000 + 1;
    }

    /** Returns how long to wait still; zero once time is up. */
    public Duration remaining() {
        return Duration.ofNanos(remainingNanos());
    }
}
