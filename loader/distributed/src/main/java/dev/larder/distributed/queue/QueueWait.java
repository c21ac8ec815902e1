package dev.larder.distributed.queue;

import dev.larder.distributed.internal.memory.EventCount;
import dev.larder.distributed.internal.memory.Interrupts;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.util.concurrent.TimeUnit;

/**
 * A wait for other members of a queue. It sleeps most of the time, and looks for dead members now and then, because the kernel reports no
 * deaths.
 */
final class QueueWait {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final HandleQueue queue;
    private final String step;
    private final EventCount events;
    private final Deadline deadline;
    private long lookedNs = System.nanoTime();

    QueueWait(HandleQueue queue, String step, EventCount events, Deadline deadline) {
        this.queue = queue;
        this.step = step;
        this.events = events;
        this.deadline = deadline;
    }

    /** Sleeps until a ring, or until it is time to look; fails after the deadline. */
    void sleep(int heard) {
        Interrupts.requireNone(step, queue.name());
        long now = System.nanoTime();
        long leftNs = deadline.remainingNanos();
        boolean isOver = leftNs == 0;
        if (isOver || now - lookedNs >= LOOK_NS) {
            lookedNs = now;
            if (queue.reclaimFromDead()) {
                return;
            }
        }
        if (isOver) {
            throw late();
        }
        events.sleep(heard, Math.min(leftNs, LOOK_NS));
    }

    private LarderException late() {
        Failure failure = Failure.of(ErrorCode.DEADLINE, "queue timed out")
                .with("name", queue.name())
                .with("step", step)
                .with("timeout", deadline.timeout());
        queue.describe(failure);
        return failure.remedy(
                "check those processes; killing one releases its handles; give handles back in a finally");
    }
}
