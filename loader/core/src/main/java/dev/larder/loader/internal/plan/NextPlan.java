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
 * Computes the plan of the next epoch while one runs, on a thread that ends with it. Holds no reference to the loader, which can be
 * garbage collected.
 *
 * <p>There is at most one such thread and one plan: the next begins only when the last thread has ended. If a plan fails, the caller
 * computes it again, and gets the same exception.
 */
public final class NextPlan {
    /** Smaller orders are computed in some hundred microseconds, which is not worth a thread. */
    private static final long SMALLEST_BYTES = 256 << 10;

    /** The divisor for the free heap that an order may take: the rest is for the trainer. */
    private static final int HEAP_SHARE = 4;

    /** The wait for a thread that was interrupted: it needs some milliseconds, or a second while it sorts. */
    private static final Duration GIVE_UP_TIMEOUT = Duration.ofMillis(400);

    private final EpochPlanner planner;
    private final LongSupplier freeHeapBytes;
    private @Nullable Making making;

    /** Orders of epochs that have begun, until they are garbage collected. */
    private final List<WeakReference<Object>> begun = new ArrayList<>();

    private boolean closed;

    public NextPlan(EpochPlanner planner) {
        this(planner, NextPlan::freeHeapBytes);
    }

    NextPlan(EpochPlanner planner, LongSupplier freeHeapBytes) {
        this.planner = planner;
        this.freeHeapBytes = freeHeapBytes;
    }

    /** Returns the free heap with its possible growth. Garbage counts as used until it is collected. */
    private static long freeHeapBytes() {
        Runtime runtime = Runtime.getRuntime();
        return runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
    }

    /**
     * Begins to plan the next epoch, if Larder's samplers compute its order, if it is worth a thread, and if the heap has room.
     */
    public void begin(long rows, Plan running) {
        begin(rows, running, null);
    }

    /**
     * Begins to plan the next epoch, and calls {@code follower} with the plan, on the thread that computed it. With a follower, a plan that
     * needs no thread is computed immediately.
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
        // Orders of ended epochs are garbage. If they counted as used, large orders would not be computed early.
        if (bytes > (freeHeapBytes.getAsLong() + garbage * bytes) / HEAP_SHARE) {
            return null;
        }
        try {
            next.thread.start();
            making = next;
        } catch (OutOfMemoryError e) { // no more threads: the next epoch computes its order itself
            making = null;
        }
        return null;
    }

    /** Counts unused orders that were not garbage collected yet. */
    private long countGarbage(Plan running) {
        Object needed = running.order();
        begun.removeIf(order -> order.refersTo(null) || order.refersTo(needed));
        long garbage = begun.size();
        if (needed != null) {
            begun.add(new WeakReference<>(needed));
        }
        return garbage;
    }

    /** Returns the plan of an epoch, or null if it was not begun; waits if it is being computed. Cancels the plan of any other epoch. */
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

    /** Cancels the plan, and waits briefly for the end of its thread. */
    public void giveUp() {
        Making last = last();
        if (last != null) {
            last.giveUp();
        }
    }

    /** Cancels the plan, and computes no other. Idempotent; callable from any thread. */
    public void close() {
        synchronized (this) {
            closed = true;
        }
        giveUp();
    }

    /** The computation of one plan. */
    private static final class Making implements Runnable {
        private final EpochPlanner planner;
        private final long rows;
        private final long epoch;
        private final @Nullable Consumer<Plan> follower;
        private final OrderThread thread = new OrderThread(this);
        private boolean givenUp;

        /** The plan; null before it is computed, if that failed, and after it was cancelled or taken. */
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
                // Cancelled, out of memory, or a failed sampler, which fails in the same way on the caller's
                // thread.
            }
        }

        private synchronized @Nullable Plan made(Plan made) {
            plan = givenUp ? null : made;
            return plan;
        }

        /** Returns the plan; the caller releases it when its epoch ends. */
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

        /** Waits for the end of the thread, even if the caller is interrupted. */
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
