package dev.larder.server;

import dev.larder.server.ingest.Loads;
import dev.larder.server.metrics.UsageSampler;
import dev.larder.server.metrics.VersionUse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Checks whether the daemon is in use, for the counters and for ending an unused daemon. Runs on a thread that it is given. */
final class IdleMonitor {
    private static final Duration LONGEST_PERIOD = Duration.ofSeconds(1);
    private static final Duration SHORTEST_PERIOD = Duration.ofMillis(20);
    private static final int CHECKS_UNTIL_IDLE = 10;

    private final UsageSampler sampler;
    private final Activity activity;
    private final Loads loads;
    private final BooleanSupplier areRegionsUsed;
    private final ScheduledExecutorService thread;
    private final Consumer<Throwable> onFailure;
    private final AtomicBoolean isScheduled = new AtomicBoolean();
    private long begunBefore;

    IdleMonitor(
            UsageSampler sampler,
            Activity activity,
            Loads loads,
            BooleanSupplier areRegionsUsed,
            ScheduledExecutorService thread,
            Consumer<Throwable> onFailure) {
        this.sampler = sampler;
        this.activity = activity;
        this.loads = loads;
        this.areRegionsUsed = areRegionsUsed;
        this.thread = thread;
        this.onFailure = onFailure;
    }

    /** Checks now. */
    List<VersionUse> now() {
        return sampler.sample();
    }

    /** Checks as soon as the thread is free. */
    void soon() {
        if (isScheduled.compareAndSet(false, true)) {
            try {
                thread.execute(Guarded.of(
                        () -> {
                            isScheduled.set(false);
                            sampler.sample();
                        },
                        onFailure));
            } catch (RejectedExecutionException stopped) {
                return; // the daemon is ending, so its counters do not matter
            }
        }
    }

    /** Runs an action on its own thread once nothing has been leased, requested or loading for this long. */
    void whenIdle(Duration limit, Runnable action) {
        Duration part = limit.dividedBy(CHECKS_UNTIL_IDLE);
        Duration most = part.compareTo(LONGEST_PERIOD) > 0 ? LONGEST_PERIOD : part;
        Duration period = most.compareTo(SHORTEST_PERIOD) < 0 ? SHORTEST_PERIOD : most;
        Idleness idleness = new Idleness(limit, period.multipliedBy(2), System::nanoTime);
        AtomicBoolean hasEnded = new AtomicBoolean();
        Runnable look = () -> {
            if (!hasEnded.get() && idleness.isOverAfter(isUsed())) {
                hasEnded.set(true);
                Thread ending = new Thread(action, "larder-idle");
                ending.setDaemon(true);
                ending.start();
            }
        };
        long nanos = period.toNanos();
        var unused = thread.scheduleWithFixedDelay(Guarded.of(look, onFailure), nanos, nanos, TimeUnit.NANOSECONDS);
    }

    private boolean isUsed() {
        long begun = activity.begun();
        boolean hasRequests = begun != begunBefore || activity.isUnderWay();
        begunBefore = begun;
        return hasRequests
                || !loads.running().isEmpty()
                || areRegionsUsed.getAsBoolean()
                || sampler.sample().stream().anyMatch(VersionUse::isLeased);
    }
}
