package dev.larder.server;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Detects that a resource has been unused for long enough. Only observed time counts: after the process was stopped for an hour, it is
 * unknown whether the resource was used. Not thread-safe.
 */
final class Idleness {
    private final long limitNanos;
    private final long mostPerCheckNanos;
    private final LongSupplier clockNanos;
    private long lastCheckNanos;
    private long idleNanos;

    /**
     * Starts the clock.
     *
     * @param mostPerCheck the most that one check can add
     */
    Idleness(Duration limit, Duration mostPerCheck, LongSupplier clockNanos) {
        this.limitNanos = limit.toNanos();
        this.mostPerCheckNanos = mostPerCheck.toNanos();
        this.clockNanos = clockNanos;
        this.lastCheckNanos = clockNanos.getAsLong();
    }

    /**
     * Records a check. Restarts the clock if the resource is in use, or was since the last check. Returns whether it has been unused for
     * the limit.
     */
    boolean isOverAfter(boolean isUsed) {
        long now = clockNanos.getAsLong();
        long passed = Math.min(now - lastCheckNanos, mostPerCheckNanos);
        lastCheckNanos = now;
        idleNanos = isUsed ? 0 : idleNanos + passed;
        return idleNanos >= limitNanos;
    }
}
