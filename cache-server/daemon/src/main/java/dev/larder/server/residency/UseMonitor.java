package dev.larder.server.residency;

import dev.larder.server.store.Store;
import dev.larder.server.store.lock.LeaseProbe;
import dev.larder.server.store.version.PublishedVersion;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Records which versions are used, and evicts those that were not used for their time to live. One thread at a time. */
final class UseMonitor {
    private static final Logger LOG = LoggerFactory.getLogger(UseMonitor.class);

    private final Store store;
    private final Residency residency;
    private final Usage usage;
    private final Repair repair;
    private final LongSupplier clockMs;

    UseMonitor(Store store, Residency residency, Usage usage, Repair repair, LongSupplier clockMs) {
        this.store = store;
        this.residency = residency;
        this.usage = usage;
        this.repair = repair;
        this.clockMs = clockMs;
    }

    /** Checks the current versions once; see {@link Residency#sample}. */
    void sample(boolean everyFile, Consumer<PublishedVersion> onVanished) {
        for (PublishedVersion version : residency.current()) {
            LeaseProbe.State lease = store.leases().state(version.folder());
            if (lease == LeaseProbe.State.HELD) {
                usage.note(version, clockMs.getAsLong());
            } else if (lease == LeaseProbe.State.FREE) {
                expire(version);
            }
            if (everyFile || lease == LeaseProbe.State.GONE) {
                repair.repair(version, onVanished);
            } else {
                repair.restoreCurrent(version);
            }
        }
    }

    private void expire(PublishedVersion version) {
        long ttlMs = version.provenance().ttlMs();
        boolean isOver = ttlMs > 0 && clockMs.getAsLong() - usage.lastUseMs(version) > ttlMs;
        if (isOver && !store.isPinned(version) && residency.tryEvict(version, false)) {
            LOG.info(
                    "dataset was not used for its time to live: dataset={} version={} comesBack={}",
                    version.dataset(),
                    version.version(),
                    version.isSourced());
        }
    }
}
