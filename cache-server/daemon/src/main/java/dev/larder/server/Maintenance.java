package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** Updates counters and files after changes to the resident versions. Thread-safe. */
final class Maintenance {
    private static final long RETIRED_SWEEP_MS = 500;

    private final Residency residency;
    private final Counters counters;
    private final IdleMonitor idle;
    private final PageCollapse pages;
    private final ErrorLog errors;
    private final ScheduledExecutorService thread;
    private final BooleanSupplier isStopping;
    private final AtomicBoolean sweeping = new AtomicBoolean();

    Maintenance(
            Residency residency,
            Counters counters,
            IdleMonitor idle,
            PageCollapse pages,
            ErrorLog errors,
            ScheduledExecutorService thread,
            BooleanSupplier isStopping) {
        this.residency = residency;
        this.counters = counters;
        this.idle = idle;
        this.pages = pages;
        this.errors = errors;
        this.thread = thread;
        this.isStopping = isStopping;
    }

    /** Updates the counters, and schedules the removal of retired versions. */
    void afterChange() {
        List<PublishedVersion> current = residency.current();
        counters.set(Counter.DATASETS, current.size());
        counters.set(
                Counter.ARRAYS,
                current.stream().mapToLong(v -> v.arrays().size()).sum());
        counters.set(Counter.EVICTIONS, residency.evictions());
        idle.soon();
        pages.soon();
        if (!residency.retired().isEmpty() && !isStopping.getAsBoolean() && sweeping.compareAndSet(false, true)) {
            try {
                var unused = thread.schedule(this::sweep, RETIRED_SWEEP_MS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException stopped) {
                return; // the whole store is removed
            }
        }
    }

    private void sweep() {
        sweeping.set(false);
        Guarded.run(residency::removeRetired, failure -> errors.report("cannot remove a retired version", failure));
        afterChange();
    }

    /** Repairs a version that is not whole, or gives it up; see {@link Residency#repair}. */
    void repairIfDamaged(String dataset) {
        Optional<PublishedVersion> version = residency.find(dataset);
        if (version.isPresent() && residency.repair(version.get(), this::reportVanished)) {
            afterChange();
        }
    }

    /** Reports that a version was given up. */
    void reportVanished(PublishedVersion version) {
        errors.report(
                "files were removed under the daemon",
                Failure.of(ErrorCode.UNEXPECTED, "files of a version vanished")
                        .with("dataset", version.dataset())
                        .with("version", version.version())
                        .with("folder", version.folder())
                        .remedy(remedyFor(version) + "; to find the cause: larder doctor"));
    }

    private static String remedyFor(PublishedVersion version) {
        if (version.isSourced()) {
            return "it is loaded again on request";
        }
        Path aside = Store.asideOf(version);
        return Files.exists(aside) ? "compute it again, or look for the rest of it in " + aside : "compute it again";
    }
}
