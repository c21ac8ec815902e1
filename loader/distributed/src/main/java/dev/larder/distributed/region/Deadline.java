package dev.larder.distributed.region;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import java.time.Duration;

/** Points in time at which waits end, as numbers, so that waiting allocates nothing. */
public final class Deadline {
    private static final long LONGEST_NS = Long.MAX_VALUE / 2;

    private Deadline() {}

    /** Returns when a wait that begins now ends. */
    public static long after(Duration timeout) {
        return System.nanoTime() + toNs(timeout);
    }

    /** Returns how long a wait is: none is longer than a century, or shorter than nothing. */
    public static long toNs(Duration timeout) {
        if (timeout.isNegative()) {
            return 0;
        }
        boolean isEndless = timeout.toSeconds() >= LONGEST_NS / 1_000_000_000;
        return isEndless ? LONGEST_NS : timeout.toNanos();
    }

    /** Returns how long there is until then; not above zero once it is over. */
    public static long leftNs(long deadline) {
        return deadline - System.nanoTime();
    }

    /** Fails with INTERRUPTED where this thread was interrupted, which stays as it is. */
    public static void requireUninterrupted(String step, String name) {
        if (Thread.currentThread().isInterrupted()) {
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting")
                    .with("step", step)
                    .with("name", name)
                    .exception();
        }
    }
}
