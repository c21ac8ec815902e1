package dev.larder.server;

import dev.larder.server.ingest.Loads;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.Sampler;
import dev.larder.server.metrics.VersionUse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Looks at the store every two seconds, so that counters are true enough, and ends an unused daemon where that is wanted. One
 * thread; {@link #close} ends it.
 */
final class Sampling implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofSeconds(2);
    private static final Duration SHORTEST_PERIOD = Duration.ofMillis(20);
    private static final int LOOKS_UNTIL_IDLE = 10;

    private final Sampler sampler;
    private final Usage usage;
    private final Loads loads;
    private final Consumer<Throwable> onFailure;
    private final ScheduledExecutorService thread;
    private long begunBefore;

    Sampling(
            Supplier<List<VersionUse>> versions,
            Counters counters,
            Usage usage,
            Loads loads,
            Consumer<Throwable> onFailure) {
        this.sampler = new Sampler(counters, versions);
        this.usage = usage;
        this.loads = loads;
        this.onFailure = onFailure;
        this.thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "larder-sample");
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Begins to look. */
    void start() {
        every(PERIOD, sampler::sample);
    }

    /** Looks as soon as its thread can. */
    void soon() {
        try {
            thread.execute(guarded(sampler::sample));
        } catch (RejectedExecutionException closed) {
            return; // nobody looks at counters of a daemon that ends
        }
    }

    /** Looks now. */
    List<VersionUse> now() {
        return sampler.sample();
    }

    /** Has an action run, on a thread of its own, once nothing has been leased, asked for or loading for this long. */
    void whenIdle(Duration limit, Runnable action) {
        Duration part = limit.dividedBy(LOOKS_UNTIL_IDLE);
        Duration period = part.compareTo(PERIOD) > 0 ? PERIOD : part;
        Duration between = period.compareTo(SHORTEST_PERIOD) < 0 ? SHORTEST_PERIOD : period;
        Idleness idleness = new Idleness(limit, between.multipliedBy(2), System::nanoTime);
        boolean[] hasEnded = {false};
        every(between, () -> {
            if (!hasEnded[0] && idleness.isOverAfter(isUsed())) {
                hasEnded[0] = true;
                Thread ending = new Thread(action, "larder-idle");
                ending.setDaemon(true);
                ending.start();
            }
        });
    }

    private boolean isUsed() {
        long begun = usage.begun();
        boolean isAsked = begun != begunBefore || usage.isUnderWay();
        begunBefore = begun;
        return isAsked
                || !loads.running().isEmpty()
                || sampler.sample().stream().anyMatch(VersionUse::isLeased);
    }

    private void every(Duration period, Runnable look) {
        long nanos = period.toNanos();
        var unused = thread.scheduleWithFixedDelay(guarded(look), nanos, nanos, TimeUnit.NANOSECONDS);
    }

    /** A look that fails must not be the last one. */
    private Runnable guarded(Runnable look) {
        return () -> {
            try {
                look.run();
            } catch (RuntimeException e) {
                onFailure.accept(e);
            }
        };
    }

    /** Lets a look under way end: an interrupt would break its reading, and be taken for a failure. */
    @Override
    public void close() {
        thread.shutdown();
    }
}
