package dev.larder.distributed.queue;

import dev.larder.distributed.region.Bell;
import dev.larder.distributed.region.Deadline;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A wait for other members of a queue: asleep most of the time, looking now and then who has died, of which nobody tells. */
final class QueueWait {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final HandleQueue queue;
    private final String step;
    private final Bell bell;
    private final Duration timeout;
    private final long deadline;
    private long lookedNs = System.nanoTime();

    /** Ends at a deadline, to which there was so much time at first. */
    QueueWait(HandleQueue queue, String step, Bell bell, Duration timeout, long deadline) {
        this.queue = queue;
        this.step = step;
        this.bell = bell;
        this.timeout = timeout;
        this.deadline = deadline;
    }

    /** Sleeps until what was heard rings again, or it is time to look; fails once time is up. */
    void sleep(int heard) {
        Deadline.requireUninterrupted(step, queue.name());
        long now = System.nanoTime();
        boolean isOver = now - deadline >= 0;
        if (isOver || now - lookedNs >= LOOK_NS) {
            lookedNs = now;
            if (queue.reclaimFromDead()) {
                return;
            }
        }
        if (isOver) {
            throw late();
        }
        bell.sleep(heard, Math.min(deadline - now, LOOK_NS));
    }

    private LarderException late() {
        Failure failure = Failure.of(ErrorCode.DEADLINE, "queue had nothing in time")
                .with("name", queue.name())
                .with("step", step)
                .with("timeout", timeout);
        queue.describe(failure);
        return failure.remedy("see what those processes are doing; killing one releases what it holds");
    }
}
