package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A wait for what another process does: looks again at once, then after ever longer pauses, until its deadline. */
final class RingWait {
    private static final int SPINS = 64;
    private static final Duration FIRST_PAUSE = Duration.ofNanos(50_000);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(1);
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final String step;
    private final Deadline deadline;
    private final Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
    private long checkedNs = System.nanoTime();
    private int spins;

    /** Starts to wait; {@code step} is what for, in messages. */
    RingWait(String step, Duration timeout) {
        this.step = step;
        this.deadline = Deadline.after(timeout);
    }

    boolean isOver() {
        return deadline.isOver();
    }

    /** Tells, every now and then, that it is time to ask what costs a system call. */
    boolean isTimeToCheck() {
        long nowNs = System.nanoTime();
        if (nowNs - checkedNs < CHECK_NS) {
            return false;
        }
        checkedNs = nowNs;
        return true;
    }

    void pause() {
        if (spins < SPINS) {
            spins++;
            Thread.onSpinWait();
            return;
        }
        if (!backoff.pause(deadline)) {
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting")
                    .with("step", step)
                    .exception();
        }
    }

    /** Starts the failure of a wait that took too long. */
    Failure late(String what) {
        return Failure.of(ErrorCode.DEADLINE, what).with("step", step).with("timeout", deadline.timeout());
    }
}
