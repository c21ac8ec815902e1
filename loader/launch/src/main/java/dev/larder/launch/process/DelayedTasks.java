package dev.larder.launch.process;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs tasks after a delay, each in a thread of its own, because the JVM's common pool may be busy. */
final class DelayedTasks {
    private static final long IDLE_MS = 500;
    private static final ScheduledThreadPoolExecutor CLOCK = clock();

    private DelayedTasks() {}

    private static ScheduledThreadPoolExecutor clock() {
        ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(1, task -> daemon(task, "larder-clock"));
        clock.setRemoveOnCancelPolicy(true);
        clock.setKeepAliveTime(IDLE_MS, TimeUnit.MILLISECONDS);
        clock.allowCoreThreadTimeOut(true);
        return clock;
    }

    /** Runs a task after a delay, unless it is cancelled before. */
    static Future<?> run(Duration delay, Runnable task) {
        return CLOCK.schedule(() -> begin(task), TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
    }

    private static void begin(Runnable task) {
        try {
            daemon(task, "larder-later").start();
        } catch (OutOfMemoryError noThread) {
            task.run(); // late is better than never
        }
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }
}
