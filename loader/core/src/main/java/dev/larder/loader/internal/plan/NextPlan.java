package dev.larder.loader.internal.plan;

import dev.larder.internal.time.Deadline;
import dev.larder.loader.internal.sample.OrderThread;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes the plan of the next epoch while one runs, in a thread that ends with it. Knows nothing of the loader, which can be collected
 * meanwhile.
 *
 * <p>There is at most one such thread, and one plan: a new one begins only when the thread before has ended. A plan that cannot be
 * made counts as not made, so that whoever wants it makes it himself, and fails as he would without this.
 */
public final class NextPlan {
    /** Smaller orders are laid down in some hundred microseconds: not worth a thread. */
    private static final long SMALLEST_BYTES = 256 << 10;

    /** What part of the free heap laying down an order may take: the rest stays for the trainer. */
    private static final int HEAP_SHARE = 4;

    /** How long to wait for a thread that was told to give up, which takes it some milliseconds, or a second where it sorts. */
    private static final Duration GIVE_UP_TIMEOUT = Duration.ofMillis(400);

    private final EpochPlanner planner;
    private final LongSupplier freeHeapBytes;
    private @Nullable Making making;

    /** Orders of epochs that have begun, as far as they were not collected yet. */
    private final List<WeakReference<Object>> begun = new ArrayList<>();

    private boolean closed;

    public NextPlan(EpochPlanner planner) {
        this(planner, NextPlan::freeHeapBytes);
    }

    NextPlan(EpochPlanner planner, LongSupplier freeHeapBytes) {
        this.planner = planner;
        this.freeHeapBytes = freeHeapBytes;
    }

    /** Returns what the heap may still grow by, and has free by now: garbage counts as used until it is collected. */
    private static long freeHeapBytes() {
        Runtime runtime = Runtime.getRuntime();
        return runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
    }

    /**
     * Begins to plan the epoch after one that has begun, if its order is laid down by samplers of ours, is worth a thread, and leaves the
     * heap enough room.
     */
    public void begin(long rows, Plan running) {
        begin(rows, running, null);
    }

    /**
     * Does so, and hands the plan on as well when it is made, in the thread that made it, if somebody wants it. One that takes no thread is
     * made at once then.
     */
    public void begin(long rows, Plan running, @Nullable Consumer<Plan> follower) {
        Making made = prepare(rows, running, follower);
        if (made != null) {
            made.run();
        }
    }

    private synchronized @Nullable Making prepare(long rows, Plan running, @Nullable Consumer<Plan> follower) {
        long epoch = running.epoch() + 1;
        long garbage = countGarbage(running);
        if (closed || epoch < 0 || (making != null && making.thread.isAlive())) {
            return null;
        }
        long bytes = planner.heapBytes(rows);
        Making next = new Making(planner, rows, epoch, follower);
        if (bytes < SMALLEST_BYTES) {
            if (follower == null) {
                return null;
            }
            making = next;
            return next;
        }
        // Orders of ended epochs are free heap in truth. Without them the making would be left out where they are
        // large.
        if (bytes > (freeHeapBytes.getAsLong() + garbage * bytes) / HEAP_SHARE) {
            return null;
        }
        try {
            next.thread.start();
            making = next;
        } catch (OutOfMemoryError e) { // no more threads to be had: the next epoch lays down its order itself
            making = null;
        }
        return null;
    }

    /** Counts the orders that nobody needs any more, and that the garbage collector has not found yet. */
    private long countGarbage(Plan running) {
        Object needed = running.order();
        begun.removeIf(order -> order.refersTo(null) || order.refersTo(needed));
        long garbage = begun.size();
        if (needed != null) {
            begun.add(new WeakReference<>(needed));
        }
        return garbage;
    }

    /** Returns the plan of an epoch and waits for it if it is being made; nothing if it is not. Any other is given up. */
    public @Nullable Plan take(long epoch) {
        Making last = last();
        if (last == null) {
            return null;
        }
        if (last.epoch != epoch) {
            giveUp();
            return null;
        }
        last.join(Deadline.none());
        return last.take();
    }

    private synchronized @Nullable Making last() {
        return making;
    }

    /** Gives up the plan that was made or is being made, and waits for a moment until its thread has left. */
    public void giveUp() {
        Making last = last();
        if (last != null) {
            last.giveUp();
        }
    }

    /** Gives up, for good. Idempotent, from any thread. */
    public void close() {
        synchronized (this) {
            closed = true;
        }
        giveUp();
    }

    /** One plan in the making. */
    private static final class Making implements Runnable {
        private final EpochPlanner planner;
        private final long rows;
        private final long epoch;
        private final @Nullable Consumer<Plan> follower;
        private final OrderThread thread = new OrderThread(this);
        private boolean givenUp;

        /** The plan; nothing before it is made, where it could not be made, and when it was given up or taken. */
        private @Nullable Plan plan;

        Making(EpochPlanner planner, long rows, long epoch, @Nullable Consumer<Plan> follower) {
            this.follower = follower;
            this.planner = planner;
            this.rows = rows;
            this.epoch = epoch;
        }

        @Override
        public void run() {
            try {
                Plan made = made(planner.whole(rows, epoch));
                if (made != null && follower != null) {
                    follower.accept(made);
                }
            } catch (Throwable e) {
                // Given up, or memory ran out, or the sampler fails: asked again, it fails in the same way, in the
                // caller's thread.
            }
        }

        private synchronized @Nullable Plan made(Plan made) {
            plan = givenUp ? null : made;
            return plan;
        }

        /** Hands the plan over: who has it gives it up when its epoch ends. */
        synchronized @Nullable Plan take() {
            Plan made = plan;
            plan = null;
            return made;
        }

        void giveUp() {
            synchronized (this) {
                givenUp = true;
                plan = null;
            }
            thread.interrupt();
            join(Deadline.after(GIVE_UP_TIMEOUT));
        }

        /** Waits for the thread to end, whether or not the caller is interrupted. */
        void join(Deadline deadline) {
            boolean interrupted = false;
            while (thread.isAlive() && !deadline.isOver()) {
                try {
                    thread.join(deadline.remainingMillis());
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
