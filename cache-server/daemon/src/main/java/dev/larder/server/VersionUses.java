package dev.larder.server;

import dev.larder.server.metrics.VersionUse;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Reads the use of every version that has files. The daemon's own leases are not counted as clients. */
record VersionUses(Store store, Residency residency) implements Supplier<List<VersionUse>> {
    private static final long OWN_PID = ProcessHandle.current().pid();

    @Override
    public List<VersionUse> get() {
        List<PublishedVersion> retired = residency.retired();
        List<PublishedVersion> all = residency.all();
        Map<Path, List<Long>> holders = store.leases().holdersOf(all);
        return all.stream()
                .map(version -> {
                    List<Long> pids = holders.getOrDefault(version.folder(), List.of());
                    return new VersionUse(
                            version.dataset(),
                            version.version(),
                            version.storedBytes(),
                            retired.stream().anyMatch(version::isSameAs),
                            store.isPinned(version),
                            holders.containsKey(version.folder()),
                            pids.stream().filter(pid -> pid != OWN_PID).toList());
                })
                .toList();
    }
}
