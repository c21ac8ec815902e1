package dev.larder.server;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that a daemon's parts share.
 *
 * @param timer ends what has taken too long
 * @param sampling looks at the store
 * @param uploads looks after what members write
 * @param pages moves what is resident to huge pages
 * @param work answers what takes a moment
 * @param room for what may wait until others have left the store: what makes them leave must not queue behind it
 * @param verification computes checksums
 */
record DaemonThreads(
        ScheduledExecutorService timer,
        ScheduledExecutorService sampling,
        ScheduledExecutorService uploads,
        ScheduledExecutorService pages,
        ExecutorService work,
        ExecutorService room,
        ExecutorService verification) {
    private static final Logger LOG = LoggerFactory.getLogger(DaemonThreads.class);
    private static final int WORK_THREADS = 2;
    private static final int ROOM_THREADS = 8;
    private static final long LOOK_END_MS = 200;

    /** Makes them; each starts with its first task. */
    DaemonThreads() {
        this(
                scheduled("larder-timer"),
                scheduled("larder-sample"),
                scheduled("larder-uploads"),
                scheduled("larder-pages"),
                Executors.newFixedThreadPool(WORK_THREADS, daemonThreads("larder-work")),
                Executors.newFixedThreadPool(ROOM_THREADS, daemonThreads("larder-room")),
                Executors.newSingleThreadExecutor(daemonThreads("larder-verify")));
    }

    private static ScheduledExecutorService scheduled(String name) {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemonThreads(name));
        timer.setRemoveOnCancelPolicy(true);
        return timer;
    }

    private static ThreadFactory daemonThreads(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /**
     * Ends what runs by the clock. Waits a moment for a look at the store that is under way: it would make anew, and report,
     * what is being removed, or keep its memory.
     */
    void endSchedules() {
        timer.shutdownNow();
        uploads.shutdownNow();
        pages.shutdownNow();
        sampling.shutdownNow();
        try {
            if (!sampling.awaitTermination(LOOK_END_MS, TimeUnit.MILLISECONDS)
                    || !pages.awaitTermination(LOOK_END_MS, TimeUnit.MILLISECONDS)) {
                LOG.debug("a check of the store has not ended yet");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Takes no more requests; those under way end by themselves. */
    void endWork() {
        work.shutdown();
        room.shutdown();
        verification.shutdown();
    }
}
