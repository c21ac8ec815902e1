package dev.larder.server;

import dev.larder.server.control.FairQueue;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that a daemon's parts share.
 *
 * @param timer ends waits that take too long
 * @param sampling checks leases and files of the store
 * @param uploads checks files that members write
 * @param pages moves resident data to huge pages
 * @param answers answers short requests that read only the store
 * @param listings sends lists; a turn lasts until the list is sent, so that lists that no client reads take a bounded part of the heap
 * @param removals frees memory, which may take seconds
 * @param sources reads paths of users, which may hang as long as their file system does
 * @param room for requests that may wait for space; a removal that frees the space must not queue behind them
 * @param verification computes checksums
 * @param publishing publishes builds of clients
 * @param loads loads sources, which may hang as long as their file system does
 */
record DaemonThreads(
        ScheduledExecutorService timer,
        ScheduledExecutorService sampling,
        ScheduledExecutorService uploads,
        ScheduledExecutorService pages,
        FairQueue answers,
        FairQueue listings,
        FairQueue removals,
        FairQueue sources,
        FairQueue room,
        FairQueue verification,
        FairQueue publishing,
        FairQueue loads) {
    private static final Logger LOG = LoggerFactory.getLogger(DaemonThreads.class);

    /** As many as connections: each has one request. */
    private static final int MOST_WAITING = 1_024;

    /** A short request that takes longer delays others. */
    private static final Duration LONGEST_ANSWER = Duration.ofSeconds(2);

    /** A read of a source that takes longer may never end. */
    private static final Duration LONGEST_LOOK = Duration.ofMinutes(1);

    private static final int MOST_LOADS = 128;
    private static final long LOOK_END_MS = 200;

    /** Creates the threads; each starts with its first task. */
    DaemonThreads() {
        this(
                scheduled("larder-timer"),
                scheduled("larder-sample"),
                scheduled("larder-uploads"),
                scheduled("larder-pages"),
                new FairQueue("larder-work", 4, MOST_WAITING),
                new FairQueue("larder-list", 4, MOST_WAITING),
                new FairQueue("larder-remove", 4, MOST_WAITING),
                FairQueue.overFiles("larder-source", 16, MOST_WAITING, 64),
                new FairQueue("larder-room", 8, MOST_WAITING),
                new FairQueue("larder-verify", 2, MOST_WAITING),
                new FairQueue("larder-publish", 8, MOST_WAITING),
                FairQueue.overFiles(
                        "larder-load",
                        MOST_LOADS,
                        Integer.MAX_VALUE,
                        MOST_LOADS)); // waiting loads are limited: one for each dataset
    }

    private List<FairQueue> queues() {
        return List.of(answers, listings, removals, sources, room, verification, publishing);
    }

    /** Returns the requests that have run for too long, and so delay others or occupy threads. */
    List<FairQueue.Running> late() {
        Stream<FairQueue.Running> answering =
                Stream.of(answers, listings).flatMap(queue -> queue.runningFor(LONGEST_ANSWER).stream());
        Stream<FairQueue.Running> looking = Stream.of(sources, loads)
                .flatMap(queue -> Stream.concat(queue.blockingFor(LONGEST_LOOK).stream(), queue.abandoned().stream()));
        return Stream.concat(answering, looking).toList();
    }

    private static ScheduledExecutorService scheduled(String name) {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, FairQueue.daemonThreads(name));
        timer.setRemoveOnCancelPolicy(true);
        return timer;
    }

    /**
     * Ends scheduled work. Waits a moment for a running check of the store: it would restore or report files that are being removed, or
     * keep their memory.
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

    /** Accepts no more requests. Running ones end by themselves; {@link dev.larder.server.ingest.Loads} ends the loads. */
    void endWork() {
        queues().forEach(FairQueue::close);
    }
}
