package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A polling wait for another process, with a time limit: it spins, yields, pauses briefly, and then pauses longer and longer. The brief
 * pauses are for a producer and consumers at the same pace: with longer ones, both would sleep most of the time.
 */
final class RingWait {
    private static final int SPINS = 64;

    /** The number of yields: if all processors are busy, the other process probably needs one. */
    private static final int YIELDS = 50;

    private static final int SHORT_PAUSES = 100;
    private static final Duration SHORT_PAUSE = Duration.ofNanos(50_000);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(1);
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final String step;
    private final Deadline deadline;
    private final Backoff steady = new Backoff(SHORT_PAUSE, SHORT_PAUSE);
    private final Backoff backoff = new Backoff(SHORT_PAUSE, LONGEST_PAUSE);
    private long checkedNs = System.nanoTime();
    private int turns;

    /** Starts a wait; messages name its {@code step}. */
    RingWait(String step, Duration timeout) {
        this.step = step;
        this.deadline = Deadline.after(timeout);
    }

    boolean isOver() {
        return deadline.isOver();
    }

    /** Returns true every few milliseconds, for checks that need a system call. */
    boolean isTimeToCheck() {
        long nowNs = System.nanoTime();
        if (nowNs - checkedNs < CHECK_NS) {
            return false;
        }
        checkedNs = nowNs;
        return true;
    }

    @SuppressWarnings(
            "ThreadPriorityCheck") // correctness does not depend on it: it only saves a pause if all processors are
    // busy
    void pause() {
        turns = Math.min(turns + 1, SPINS + YIELDS + SHORT_PAUSES + 1);
        if (turns <= SPINS) {
            Thread.onSpinWait();
            return;
        }
        if (turns <= SPINS + YIELDS) {
            Thread.yield();
            return;
        }
        Backoff pauses = turns <= SPINS + YIELDS + SHORT_PAUSES ? steady : backoff;
        if (!pauses.pause(deadline)) {
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting")
                    .with("step", step)
                    .exception();
        }
    }

    /** Returns the failure of a wait that reached its time limit. */
    Failure late(String what) {
        return Failure.of(ErrorCode.DEADLINE, what).with("step", step).with("timeout", deadline.timeout());
    }
}
