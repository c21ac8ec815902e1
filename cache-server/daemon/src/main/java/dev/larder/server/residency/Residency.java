package dev.larder.server.residency;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.server.catalog.Catalog;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.Provenance;
import dev.larder.server.store.PublishedVersion;
import dev.larder.server.store.Store;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The versions of a store: one is current for each dataset, others are retired and leave with their last lease. Thread-safe.
 */
public final class Residency {
    private static final Logger LOG = LoggerFactory.getLogger(Residency.class);

    private final Store store;
    private final CatalogKeeper catalog;
    private final LongSupplier clockMs;
    private final Map<String, PublishedVersion> current = new TreeMap<>();
    private final List<PublishedVersion> retired = new ArrayList<>();
    private final Map<String, Long> lastVersions = new HashMap<>();

    /**
     * Creates an empty one that keeps the catalog up to date.
     *
     * @param onCatalogError told where the catalog fails, which changes nothing else: the store is the truth
     * @param clockMs the time, in milliseconds since the epoch
     */
    public Residency(Store store, Catalog catalog, Consumer<Throwable> onCatalogError, LongSupplier clockMs) {
        this.store = store;
        this.catalog = new CatalogKeeper(catalog, onCatalogError);
        this.clockMs = clockMs;
    }

    /** Takes over what an earlier daemon left in the store; see {@link Store#adopt}. */
    public void adopt(BiConsumer<Path, RuntimeException> onDamaged) throws IOException {
        for (PublishedVersion version : store.adopt(onDamaged)) {
            makeCurrent(version);
            store.pointCurrentTo(version);
        }
        catalog.reconcile(all()).forEach(this::noteVersion);
        removeRetired();
    }

    /** Makes finished versions the current ones, all or none, and retires those before them. */
    public List<PublishedVersion> publish(List<IncomingVersion> incoming) {
        List<PublishedVersion> versions = store.publish(incoming, this::nextVersion, clockMs.getAsLong());
        for (PublishedVersion version : versions) {
            makeCurrent(version);
            catalog.add(version);
        }
        try {
            removeRetired();
        } catch (LarderException e) { // what was published stays so, and the next sweep tries again
            LOG.warn("retired versions could not be removed yet: {}", e.getMessage());
        }
        return versions;
    }

    /** Notes what the sources of a version look like now that they were found to hold what they held. */
    public void recordSources(PublishedVersion version, Provenance provenance) {
        PublishedVersion updated = version.withProvenance(provenance);
        store.rewriteManifest(updated);
        synchronized (this) {
            PublishedVersion now = current.get(version.dataset());
            if (now != null && now.isSameAs(version)) {
                current.put(version.dataset(), updated);
                catalog.add(updated);
            }
        }
    }

    /** Gives every number once, also where publishing it fails. */
    private synchronized long nextVersion(String dataset) {
        return lastVersions.merge(dataset, 1L, Long::sum);
    }

    private synchronized void noteVersion(String dataset, long version) {
        lastVersions.merge(dataset, version, Math::max);
    }

    private synchronized void makeCurrent(PublishedVersion version) {
        noteVersion(version.dataset(), version.version());
        PublishedVersion previous = current.put(version.dataset(), version);
        if (previous != null) {
            retired.add(previous);
        }
    }

    /**
     * Unlinks the retired versions that nobody leases any more, and returns how many remain. Freeing memory takes time, so no lock
     * is held meanwhile; a version that another thread removed first counts as removed.
     */
    public int removeRetired() {
        for (PublishedVersion version : retired()) {
            if (store.removeUnleased(version)) {
                forget(version);
            }
        }
        return retired().size();
    }

    private synchronized void forget(PublishedVersion version) {
        current.computeIfPresent(version.dataset(), (name, other) -> other.isSameAs(version) ? null : other);
        retired.removeIf(version::isSameAs);
        catalog.remove(version);
    }

    /** Removes the current version of a dataset; refuses while anybody leases it. */
    public PublishedVersion evict(String dataset) {
        PublishedVersion version = require(dataset);
        if (!store.removeUnleased(version)) {
            throw Failure.of(ErrorCode.REFUSED, "dataset is in use")
                    .with("dataset", dataset)
                    .with("version", version.version())
                    .with("pids", store.holders(version))
                    .remedy("evict it when its readers have ended");
        }
        forget(version);
        return version;
    }

    /** Returns the current version of a dataset that has to have one. */
    public PublishedVersion require(String dataset) {
        return find(dataset)
                .orElseThrow(() -> Failure.of(ErrorCode.NOT_FOUND, "no such dataset")
                        .with("dataset", dataset)
                        .remedy(nearNames(dataset)));
    }

    /** Returns the current version of a dataset. */
    public synchronized Optional<PublishedVersion> find(String dataset) {
        return Optional.ofNullable(current.get(dataset));
    }

    /** Returns the current versions, sorted by dataset. */
    public synchronized List<PublishedVersion> current() {
        return List.copyOf(current.values());
    }

    /** Returns the versions that only their readers still see. */
    public synchronized List<PublishedVersion> retired() {
        return List.copyOf(retired);
    }

    /** Returns every version that has files. */
    public synchronized List<PublishedVersion> all() {
        List<PublishedVersion> versions = new ArrayList<>(current.values());
        versions.addAll(retired);
        return versions;
    }

    /** Returns what all versions occupy, in bytes. */
    public synchronized long usedBytes() {
        return storedBytes(all());
    }

    /** Returns what the leased versions occupy, in bytes. */
    public long leasedBytes() {
        return storedBytes(all().stream().filter(store::isLeased).toList());
    }

    private static long storedBytes(List<PublishedVersion> versions) {
        return versions.stream().mapToLong(PublishedVersion::storedBytes).sum();
    }

    /** Says which datasets have a name like this one, as the remedy of an error. */
    public synchronized String nearNames(String name) {
        List<String> near = NearNames.of(name, current.keySet());
        return near.isEmpty()
                ? "larder ls lists all; larder load " + name + "=PATH loads it"
                : "did you mean " + String.join(", ", near) + "? larder ls lists all";
    }
}
