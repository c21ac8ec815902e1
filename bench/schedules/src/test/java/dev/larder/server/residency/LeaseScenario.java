package dev.larder.server.residency;

import dev.larder.schedules.Race;
import dev.larder.schedules.Schedules;
import dev.larder.server.store.lock.LeaseProbe;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Path;

/** One thread leases a version, one evicts it, and two look whether it is leased. */
final class LeaseScenario implements Schedules.Scenario {
    private final SmallStore made;
    private final PublishedVersion version;

    LeaseScenario(Path root) {
        this.made = new SmallStore(root, 2);
        this.version = made.prepare("d");
    }

    /** What the threads found. */
    private static final class Found {
        private boolean isLeased;
        private boolean isWhole;
        private boolean isEvicted;
    }

    @Override
    public void run() {
        LeaseProbe leases = made.store().leases();
        Residency residency = made.newResidency();
        Race.alone(() -> made.restore(version, residency));
        Found found = new Found();

        Race.run(
                () -> found.isLeased = leases.runLeased(version.folder(), () -> found.isWhole = made.isWhole(version)),
                () -> found.isEvicted = residency.tryEvict(version, false),
                () -> leases.isLeased(version.folder()),
                () -> leases.isLeased(version.folder()));

        Race.alone(() -> {
            Race.require(!found.isLeased || found.isWhole, "it was removed while it was leased");
            Race.require(found.isLeased || found.isEvicted, "it was neither leased nor evicted: each was kept out");
            Race.require(found.isEvicted != residency.find("d").isPresent(), "it was evicted and still counts");
            made.requireInOrder(version, residency);
            made.clear(version, residency);
        });
    }

    @Override
    public void close() {
        made.close();
    }
}
