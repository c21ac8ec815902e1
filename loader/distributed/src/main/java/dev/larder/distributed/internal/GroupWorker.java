package dev.larder.distributed.internal;

import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The thread that runs what a group was asked for while its caller goes on. There is none before the first such call. */
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

    /** Takes a call, or fails and has not taken it. */
    public synchronized void submit(Runnable call) {
        if (!open) {
            throw new IllegalStateException("process group is closed: worker=" + name);
        }
        if (thread == null) {
            Thread starting = threads.newThread(this::runAll);
            starting.setName(name);
            starting.setDaemon(true);
            starting.start(); // fails where the system gives no more threads
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

    /** Null after the last one. */
    private synchronized @Nullable Runnable next() {
        while (open && calls.isEmpty()) {
            try {
                wait();
            } catch (InterruptedException e) {
                // by mistake: this thread is nobody else's, and others wait for the calls to come
            }
        }
        return calls.poll();
    }

    /**
     * Lets what was submitted run to its end, which fails soon where the group has stopped; waits no longer than this, and as long also
     * where the caller is interrupted, which it then still is.
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
