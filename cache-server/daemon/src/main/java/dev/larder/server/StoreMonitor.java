package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.time.Backoff;
import dev.larder.server.metrics.ErrorLog;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.Store;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Checks the store while its daemon lives: records leases, evicts versions at the end of their time to live, and restores files that
 * another program has removed. Runs on a thread that it is given.
 */
final class StoreMonitor {
    private static final Duration PERIOD = Duration.ofSeconds(1);

    /** The longest pause while the store cannot be restored; each attempt is reported. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    /** The number of samples of leases between two checks of all files. */
    private static final int SAMPLES_PER_CHECK = 10;

    /** Sampling takes at most one part in this many of a processor's time. One slow sample, as on a busy machine, does not count. */
    private static final int PAUSE_FACTOR = 100;

    private static final long FAILED_SAMPLE_PAUSE_NS = PAUSE_FACTOR * PERIOD.toNanos();

    private final Store store;
    private final Residency residency;
    private final Maintenance maintenance;
    private final ControlListener control;
    private final Runnable restoreFiles;
    private final ErrorLog errors;
    private final Shutdown shutdown;
    private final ScheduledExecutorService thread;
    private Backoff pauses = new Backoff(PERIOD, LONGEST_PAUSE);
    private long samples;
    private long lastSampleNs;
    private long nextSampleNs = System.nanoTime();

    /**
     * Creates a monitor that {@link #start} starts.
     *
     * @param restoreFiles restores the daemon's own files that another program has removed
     */
    StoreMonitor(
            Store store,
            Residency residency,
            Maintenance maintenance,
            ControlListener control,
            Runnable restoreFiles,
            ErrorLog errors,
            Shutdown shutdown,
            ScheduledExecutorService thread) {
        this.store = store;
        this.residency = residency;
        this.maintenance = maintenance;
        this.control = control;
        this.restoreFiles = restoreFiles;
        this.errors = errors;
        this.shutdown = shutdown;
        this.thread = thread;
    }

    /** Starts the checks. */
    void start() {
        schedule(PERIOD.toMillis());
    }

    private void schedule(long delayMs) {
        if (!shutdown.isStopping()) {
            try {
                var unused = thread.schedule(this::check, delayMs, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException stopped) {
                return;
            }
        }
    }

    private void check() {
        if (shutdown.isStopping()) {
            return;
        }
        boolean isWhole = false;
        try {
            isWhole = restoreStore();
            if (System.nanoTime() - nextSampleNs >= 0) {
                sample();
            }
        } catch (RuntimeException | Error e) {
            Guarded.report(e, this::reportFailure);
        } finally {
            pauses = isWhole ? new Backoff(PERIOD, LONGEST_PAUSE) : pauses;
            schedule(pauses.nextMillis());
        }
    }

    /** Samples leases and files. With many files this takes long, so it is rarer than the cheap check that restores the store. */
    private void sample() {
        long start = System.nanoTime();
        nextSampleNs = start + FAILED_SAMPLE_PAUSE_NS; // if it fails
        samples++;
        store.sweepShared();
        residency.sample(samples % SAMPLES_PER_CHECK == 0, maintenance::reportVanished);
        maintenance.afterChange();
        long end = System.nanoTime();
        nextSampleNs = end + Math.min(end - start, lastSampleNs) * PAUSE_FACTOR;
        lastSampleNs = end - start;
    }

    private void reportFailure(Throwable failure) {
        if (!shutdown.isStopping()) { // otherwise files disappear during the check
            errors.report("cannot determine what is in use", failure);
        }
    }

    /**
     * Restores files that another program has removed. If another daemon has taken the store, ends this one. Returns false if the store
     * cannot be restored now.
     */
    private boolean restoreStore() {
        StoreLayout layout = store.layout();
        try {
            if (store.restoreIfRemoved()) {
                errors.report("the store was removed under the daemon", removed(layout.root()));
            }
            if (!Files.exists(layout.socket()) && !shutdown.isStopping()) {
                control.listen();
                errors.report("the control socket was removed", removed(layout.socket()));
            }
            restoreFiles.run();
            return true;
        } catch (LarderException e) {
            if (e.code() != ErrorCode.REFUSED) {
                throw e;
            } else if (store.isTaken()) {
                end(e);
            } else {
                errors.report("the store cannot be recreated", e);
            }
            return false;
        }
    }

    private void end(LarderException reason) {
        errors.report("another daemon has taken the store, so this one ends", reason);
        Thread end = new Thread(() -> shutdown.stop(false, cleanUp -> {}), "larder-end");
        end.setDaemon(true);
        end.start();
    }

    private static LarderException removed(Path path) {
        return Failure.of(ErrorCode.UNEXPECTED, "files of the store were removed by another process")
                .with("path", path)
                .remedy("it was recreated; to find the cause: larder doctor");
    }
}
