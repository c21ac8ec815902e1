package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A wait for what another process does: looks again at once, then after ever longer pauses, and not for ever. */
final class Patience {
    private static final int SPINS = 64;
    private static final long FIRST_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final String step;
    private final long startNs = System.nanoTime();
    private final long limitNs;
    private long checkedNs = startNs;
    private long pauseNs = FIRST_PAUSE_NS;
    private int spins;

    /** Starts to wait; {@code step} is what for, in messages. */
    Patience(String step, Duration limit) {
        this.step = step;
        this.limitNs = limit.toNanos();
    }

    boolean isOver() {
        return System.nanoTime() - startNs >= limitNs;
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
        LockSupport.parkNanos(pauseNs);
        pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
        if (Thread.currentThread().isInterrupted()) {
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting")
                    .with("step", step)
                    .exception();
        }
    }

    /** Starts the failure of a wait that took too long. */
    Failure deadline(String what) {
        return Failure.of(ErrorCode.DEADLINE, what).with("step", step).with("timeout", Duration.ofNanos(limitNs));
    }
}
