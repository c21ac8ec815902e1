package dev.larder.distributed.internal;

import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The thread for asynchronous calls of a group. It starts with the first of them. */
public final class GroupWorker {
    private final String name;
    private final ThreadFactory threads;
    private final Queue<Runnable> calls = new ArrayDeque<>();
    private @Nullable Thread thread;
    private boolean open = true;

    public GroupWorker(String name) {
        this(name, Thread::new);
    }

    GroupWorker(String name, ThreadFactory threads) {
        this.name = name;
        this.threads = threads;
    }

    /** Queues a call, or fails without queueing it. */
    public synchronized void submit(Runnable call) {
        if (!open) {
            throw new IllegalStateException("process group is closed: worker=" + name);
        }
        if (thread == null) {
            Thread starting = threads.newThread(this::runAll);
            starting.setName(name);
            starting.setDaemon(true);
            starting.start(); // fails if the system has no free thread
            thread = starting;
        }
        calls.add(call);
        notifyAll();
    }

    private void runAll() {
        for (Runnable call = next(); call != null; call = next()) {
            call.run();
        }
    }

    /** Returns the next call; null after the last one. */
    private synchronized @Nullable Runnable next() {
        while (open && calls.isEmpty()) {
            try {
                wait();
            } catch (InterruptedException e) {
                // a mistake: no other code has this thread, and ranks wait for the next calls
            }
        }
        return calls.poll();
    }

    /**
     * Waits until the queued calls have ended, which fail soon if the group has stopped. Waits at most for the timeout, even if the caller
     * is interrupted, which stays so.
     */
    public void close(Duration patience) {
        @Nullable Thread running;
        synchronized (this) {
            open = false;
            running = thread;
            notifyAll();
        }
        if (running != null && running != Thread.currentThread()) {
            joinUninterruptibly(running, Deadline.after(patience));
        }
    }

    private static void joinUninterruptibly(Thread thread, Deadline deadline) {
        boolean isInterrupted = false;
        while (thread.isAlive() && !deadline.isOver()) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(thread, deadline.remainingNanos());
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
