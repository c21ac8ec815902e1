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
 * Runs jobs in processes of their own, one at a time in each place, in the order in which they were given.
 *
 * <p>A job that fails, or whose process is killed, hurts nobody: its end is its result. Nothing of a process is left when the next
 * one gets its place. Whoever made the pool ends it: {@link #close} and {@link #join}, or {@link #closeNow}; its processes do not
 * outlive this JVM in any case. Thread-safe.
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

    /** Makes a pool with these places; a job whose time is up has 10 s to tidy up before it is killed. */
    public ProcessPool(List<PoolSlot> slots) {
        this(slots, GRACE);
    }

    /** Makes a pool with these places, and a time for jobs to tidy up in when their own is up. */
    public ProcessPool(List<PoolSlot> slots, Duration grace) {
        if (slots.isEmpty()) {
            throw new IllegalArgumentException("a pool needs at least one place");
        }
        free.addAll(slots);
        this.grace = grace;
    }

    /** One thread, for as long as there is something to start: a start must not wait for those of the JVM that others keep busy. */
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

    /** Takes a job, which runs as soon as there is a place for it. Fails with {@link IllegalStateException} once closed. */
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

    /** Takes no new jobs from now on; those that it has taken run. Returns at once. */
    public synchronized void close() {
        closed = true;
    }

    /**
     * Waits until every job that was given has ended.
     *
     * @return those that had not when the time was up; empty where all have
     */
    public List<PooledJob> join(Duration timeout) {
        List<PooledJob> awaited = unfinished();
        Deadline deadline = Deadline.after(timeout);
        try {
            for (PooledJob job : awaited) { // one by one: what waits for all at once stays with each of them
                job.awaitEnd(deadline.remainingNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // what still runs is told all the same
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

    /** Ends all jobs that have not ended: see {@link PooledJob#cancel}. The pool takes further ones. */
    public void cancel(Duration jobGrace) {
        List<PooledJob> ending = unfinished();
        ending.forEach(PooledJob::withdraw); // first: else they take the places that the others leave
        ending.forEach(job -> job.cancel(jobGrace));
    }

    /** Sends the process groups of all running jobs a signal, named without SIG. */
    public void signal(String name) {
        unfinished().forEach(job -> job.signal(name));
    }

    /**
     * Takes no new jobs, kills what runs, and waits until nothing is left, at most 15 s.
     *
     * @return jobs whose processes the kernel did not let go of by then
     */
    public List<PooledJob> closeNow() {
        close();
        cancel(Duration.ZERO);
        return join(CLOSING);
    }
}
