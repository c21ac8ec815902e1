package dev.larder.distributed.rendezvous;

import java.time.Duration;

/** One deadline for all steps of a meeting. */
final class Deadline {
    private final Duration timeout;
    private final long beginNanos;
    private final long timeoutNanos;

    private Deadline(Duration timeout, long beginNanos) {
        this.timeout = timeout;
        this.beginNanos = beginNanos;
        this.timeoutNanos = timeout.compareTo(Duration.ofDays(365)) > 0
                ? Duration.ofDays(365).toNanos()
                : timeout.toNanos();
    }

    static Deadline after(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout is not above zero: " + timeout);
        }
        return new Deadline(timeout, System.nanoTime());
    }

    Duration timeout() {
        return timeout;
    }

    boolean hasPassed() {
        return leftNanos() <= 0;
    }

    /** Returns how long to wait at most for something that is looked at again after a pause; at least 1 ms. */
    long leftMs(long pauseMs) {
        return Math.max(1, Math.min(pauseMs, leftNanos() / 1_000_000 + 1));
    }

    private long leftNanos() {
        return timeoutNanos - (System.nanoTime() - beginNanos);
    }
}
