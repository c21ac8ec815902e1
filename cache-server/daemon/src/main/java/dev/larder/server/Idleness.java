package dev.larder.server;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Notices that something has been unused for long enough. Only time that was looked at counts: a process that was stopped for
 * an hour does not know what happened meanwhile. Used by one thread.
 */
final class Idleness {
    private final long limitNanos;
    private final long mostBetweenLooksNanos;
    private final LongSupplier clockNanos;
    private long lastLookNanos;
    private long idleNanos;

    /**
     * Starts the clock.
     *
     * @param mostBetweenLooks how much one look can add
     */
    Idleness(Duration limit, Duration mostBetweenLooks, LongSupplier clockNanos) {
        this.limitNanos = limit.toNanos();
        this.mostBetweenLooksNanos = mostBetweenLooks.toNanos();
        this.clockNanos = clockNanos;
        this.lastLookNanos = clockNanos.getAsLong();
    }

    /** Looks: starts the clock anew where there is, or was since the last look, any use; tells whether time is over. */
    boolean isOverAfter(boolean isUsed) {
        long now = clockNanos.getAsLong();
        long passed = Math.min(now - lastLookNanos, mostBetweenLooksNanos);
        lastLookNanos = now;
        idleNanos = isUsed ? 0 : idleNanos + passed;
        return idleNanos >= limitNanos;
    }
}
