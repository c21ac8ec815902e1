package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A wait for what another process does: looks again at once, lets others run, then pauses, and where that takes long ever longer,
 * until its deadline. Pauses stay short for as long as processes that keep pace may wait for one another: with longer ones both sleep
 * most of the time.
 */
final class RingWait {
    private static final int SPINS = 64;

    /** So often others may run first: where all processors are busy, those that are waited for mostly need one. */
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

    @SuppressWarnings(
            "ThreadPriorityCheck") // nothing depends on who runs: it only saves a pause where all processors are busy
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

    /** Starts the failure of a wait that took too long. */
    Failure late(String what) {
        return Failure.of(ErrorCode.DEADLINE, what).with("step", step).with("timeout", deadline.timeout());
    }
}
