package dev.larder.launch.process;

import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs jobs in processes of their own, one at a time in each slot, in the order of their submission.
 *
 * <p>A job that fails or is killed affects no other: its end is its result. The descendants of a process have ended before the next one gets
 * its slot. The caller ends the pool: {@link #close} and {@link #join}, or {@link #closeNow}. Its processes never outlive this JVM.
 * Thread-safe.
 */
public final class ProcessPool {
    private static final Duration GRACE = Duration.ofSeconds(10);
    private static final Duration CLOSING = Duration.ofSeconds(15);

    private final Deque<PoolSlot> free = new ArrayDeque<>();
    private final Set<PooledJob> waiting = new LinkedHashSet<>();
    private final Set<PooledJob> unfinished = new LinkedHashSet<>();
    private final ExecutorService starts = starts();
    private final Duration grace;
    private boolean closed;

    /** Creates a pool with these slots; a job that exceeds its timeout is killed after 10 s. */
    public ProcessPool(List<PoolSlot> slots) {
        this(slots, GRACE);
    }

    /** Creates a pool with these slots, and a grace for jobs that exceed their timeout. */
    public ProcessPool(List<PoolSlot> slots, Duration grace) {
        if (slots.isEmpty()) {
            throw new IllegalArgumentException("a pool needs at least one place");
        }
        free.addAll(slots);
        this.grace = grace;
    }

    /** Returns a pool of one thread, which ends when there is nothing to start: a start must not wait for busy threads of the JVM. */
    private static ExecutorService starts() {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, 100, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "larder-pool");
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** Adds a job, which runs as soon as a slot is free. Fails with {@link IllegalStateException} after closing. */
    public PooledJob submit(Job job) {
        PooledJob pooled = new PooledJob(job, grace);
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("the pool is closed: job=" + job.name());
            }
            waiting.add(pooled);
            unfinished.add(pooled);
        }
        var unused = pooled.onEnd().thenRun(() -> forget(pooled));
        starts.execute(this::startWaiting);
        return pooled;
    }

    private synchronized void forget(PooledJob pooled) {
        unfinished.remove(pooled);
        waiting.remove(pooled);
    }

    private void startWaiting() {
        while (true) {
            PooledJob next;
            PoolSlot slot;
            synchronized (this) {
                if (free.isEmpty() || waiting.isEmpty()) {
                    return;
                }
                next = waiting.iterator().next();
                waiting.remove(next);
                slot = free.remove();
            }
            if (next.take(slot)) {
                var unused = next.run(slot).thenRunAsync(() -> release(slot), starts);
            } else {
                release(slot);
            }
        }
    }

    private void release(PoolSlot slot) {
        synchronized (this) {
            free.add(slot);
        }
        starts.execute(this::startWaiting);
    }

    /** Accepts no new jobs from now on; the earlier ones run. Does not wait. */
    public synchronized void close() {
        closed = true;
    }

    /**
     * Waits until every job has ended.
     *
     * @return those that have not ended in time
     */
    public List<PooledJob> join(Duration timeout) {
        List<PooledJob> awaited = unfinished();
        Deadline deadline = Deadline.after(timeout);
        try {
            for (PooledJob job : awaited) { // one by one: a common future would stay registered with each of them
                job.awaitEnd(deadline.remainingNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the running jobs are returned in any case
        } catch (TimeoutException e) {
            // then some are left
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
        return awaited.stream().filter(job -> !job.isDone()).toList();
    }

    /** Returns the jobs that have not ended. */
    public synchronized List<PooledJob> unfinished() {
        return List.copyOf(unfinished);
    }

    /** Ends all jobs that have not ended; see {@link PooledJob#cancel}. The pool accepts further ones. */
    public void cancel(Duration jobGrace) {
        List<PooledJob> ending = unfinished();
        ending.forEach(PooledJob::withdraw); // first, or they would take the slots of the others
        ending.forEach(job -> job.cancel(jobGrace));
    }

    /** Sends the process groups of all running jobs a signal, named without SIG. */
    public void signal(String name) {
        unfinished().forEach(job -> job.signal(name));
    }

    /**
     * Accepts no new jobs, kills the running ones, and waits at most 15 s until no process is left.
     *
     * @return jobs with processes that the kernel still holds
     */
    public List<PooledJob> closeNow() {
        close();
        cancel(Duration.ZERO);
        return join(CLOSING);
    }
}
