package dev.larder.server.residency;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.NearNames;
import dev.larder.internal.process.FlightRecording;
import dev.larder.internal.protocol.Retention;
import dev.larder.server.catalog.CatalogEntry;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.RemovalReason;
import dev.larder.server.store.Store;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import dev.larder.server.store.version.ShardRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The versions of a store. One is current for each dataset; others are retired and removed after their last lease. Thread-safe. */
public final class Residency {
    private static final Logger LOG = LoggerFactory.getLogger(Residency.class);

    private final Store store;
    private final LongSupplier clockMs;
    private final Map<String, PublishedVersion> current = new TreeMap<>();
    private final List<PublishedVersion> retired = new ArrayList<>();
    private final Map<String, Long> lastVersions = new HashMap<>();
    private final Map<String, Registration> registered = new TreeMap<>();

    /** The number of threads that are trying to remove each version. */
    private final Map<Path, Integer> beingRemoved = new HashMap<>();

    /** Versions that clients no longer find, until their memory is free. */
    private final List<PublishedVersion> freeing = new ArrayList<>();

    /** Held while a pin changes, and while it passes from one version to the next. */
    private final Object pins = new Object();

    private final Usage usage = new Usage();
    private final LongAdder evictions = new LongAdder();
    private final Admission admission;
    private final Repair repair;
    private final UseMonitor useMonitor;
    private final UnverifiedVersions unverified;

    /**
     * Creates an empty instance.
     *
     * @param clockMs the time, in milliseconds since the epoch
     */
    public Residency(Store store, LongSupplier clockMs) {
        this.store = store;
        this.clockMs = clockMs;
        this.admission = new Admission(store, this, usage, clockMs);
        this.repair = new Repair(store, this);
        this.useMonitor = new UseMonitor(store, this, usage, repair, clockMs);
        this.unverified = new UnverifiedVersions(store, this);
    }

    /**
     * Takes over the versions that an earlier daemon left in the store; see {@link Store#adopt}.
     *
     * @param lastUses its times of last use, also of versions without files: their numbers are not given again
     */
    public void adopt(
            BooleanSupplier verifies, List<CatalogEntry> lastUses, BiConsumer<Path, RuntimeException> onDamaged)
            throws IOException {
        Store.Adopted adopted = store.adopt(verifies, onDamaged);
        adopted.versions().forEach(this::makeCurrent);
        synchronized (this) {
            retired.addAll(adopted.retired());
            unverified.addAll(adopted.unverified());
        }
        for (PublishedVersion version : current()) {
            store.pointCurrentTo(version);
        }
        for (Registration registration : adopted.registrations()) {
            setRegistered(registration);
            noteVersion(registration.dataset(), registration.version());
        }
        adopted.lastVersions().forEach(this::noteVersion);
        lastUses.forEach(entry -> noteVersion(entry.dataset(), entry.version()));
        usage.adopt(all(), lastUses, clockMs.getAsLong());
        removeRetired();
    }

    /** Returns the versions that clients cannot open yet. */
    public UnverifiedVersions unverified() {
        return unverified;
    }

    /**
     * Makes finished versions current, all or none, and retires those before them. A pin passes to the new version. Their space counts as
     * used from then on and no longer as reserved. The caller closes the reservation, and then calls {@link #removeReplaced}.
     */
    public List<PublishedVersion> publish(List<IncomingVersion> incoming, Reservation reservation) {
        Set<String> inheriting = new HashSet<>(); // the old pin may be gone when the new version becomes current
        for (IncomingVersion version : incoming) {
            Optional<PublishedVersion> before = find(version.dataset()).or(() -> unverified.find(version.dataset()));
            if (!version.isPinned() && before.filter(store::isPinned).isPresent()) {
                version.pin();
                inheriting.add(version.dataset());
            }
        }
        List<PublishedVersion> versions = store.publish(incoming, reservation, this::nextVersion, clockMs.getAsLong());
        Map<PublishedVersion, PublishedVersion> previous = new LinkedHashMap<>();
        synchronized (pins) {
            store.handOver(reservation, versions, () -> {
                for (PublishedVersion version : versions) {
                    find(version.dataset()).ifPresent(retiring -> previous.put(retiring, version));
                    makeCurrent(version);
                }
            });
            previous.forEach(
                    (retiring, version) -> handPinOver(retiring, version, inheriting.contains(version.dataset())));
        }
        return versions;
    }

    /** Reads the old pin again: a client may have changed it during the publication. */
    private void handPinOver(PublishedVersion retiring, PublishedVersion version, boolean inherits) {
        try {
            boolean pinned = store.isPinned(retiring);
            if (pinned || inherits) {
                store.pin(version, pinned);
                store.pin(retiring, false);
            }
        } catch (LarderException e) { // the publication is not undone
            LOG.warn("a version may have lost the pin of the version before it: {}", e.getMessage());
        }
    }

    /** Removes the replaced versions that are not leased. If that fails, the next check tries again. */
    public void removeReplaced() {
        try {
            removeRetired();
        } catch (LarderException e) {
            LOG.warn("retired versions could not be removed yet: {}", e.getMessage());
        }
    }

    private void forgetSource(String dataset) {
        boolean known;
        synchronized (this) {
            known = registered.remove(dataset) != null;
        }
        if (known) {
            store.removeRegistration(dataset);
        }
    }

    /** Records the sources of a dataset without loading it. */
    public void register(Registration registration) {
        store.writeRegistration(registration);
        setRegistered(registration);
    }

    /** Refuses another source for a resident dataset. */
    public void requireRegistrable(String dataset) {
        unverified.requireNone(dataset);
        if (find(dataset).isPresent()) {
            throw Failure.of(ErrorCode.REFUSED, "dataset is resident already")
                    .with("dataset", dataset)
                    .remedy("load it from another path with larder load, or run larder evict --forget " + dataset
                            + " first");
        }
    }

    /** Returns the registration of a dataset that is not resident but can be loaded. */
    public synchronized Optional<Registration> registration(String dataset) {
        return current.containsKey(dataset) ? Optional.empty() : Optional.ofNullable(registered.get(dataset));
    }

    /** Returns the registrations of all datasets that are not resident, sorted by dataset. */
    public synchronized List<Registration> registrations() {
        return registered.values().stream()
                .filter(registration -> !current.containsKey(registration.dataset()))
                .toList();
    }

    /** Updates the provenance of a version after its sources were found to have the same contents. */
    public void recordSources(PublishedVersion version, Provenance provenance) {
        PublishedVersion updated = version.withProvenance(provenance);
        store.rewriteManifest(updated);
        synchronized (this) {
            PublishedVersion now = current.get(version.dataset());
            if (now != null && now.isSameAs(version)) {
                current.put(version.dataset(), updated);
            }
        }
    }

    /** Records the whole that a shard is a part of. Fails if the dataset has another version now. */
    public void recordWhole(String dataset, String digest, String of) {
        PublishedVersion version = require(dataset);
        ShardRecord shard = version.provenance().shard();
        if (shard == null || !version.digest().equals(digest)) {
            throw Failure.of(ErrorCode.REFUSED, "another version was loaded meanwhile")
                    .with("dataset", dataset)
                    .with("version", version.version())
                    .with("digest", version.digest())
                    .with("expected", digest)
                    .remedy("start again, and load nothing else under this name meanwhile");
        }
        if (!shard.of().equals(of)) {
            recordSources(version, version.provenance().withShard(shard.withWhole(of)));
        }
    }

    /** Returns the provenance of a dataset when it last had these contents, if it is known. */
    public synchronized Optional<Provenance> lastKnown(String dataset, String digest) {
        PublishedVersion resident = current.get(dataset);
        if (resident != null && resident.digest().equals(digest)) {
            return Optional.of(resident.provenance());
        }
        return Optional.ofNullable(registered.get(dataset))
                .filter(known -> known.digest().equals(digest))
                .map(Registration::provenance);
    }

    /**
     * Returns a new number for each version, even after a failed publication. An evicted version that is loaded again unchanged gets its
     * old number.
     */
    private synchronized long nextVersion(String dataset, String digest) {
        @Nullable Registration known = registered.get(dataset);
        if (known != null
                && known.isOf(digest)
                && known.version() == lastVersions.getOrDefault(dataset, 0L)
                && !isPresent(dataset, known.version())) {
            return known.version();
        }
        return lastVersions.merge(dataset, 1L, Long::sum);
    }

    private boolean isPresent(String dataset, long version) {
        return all().stream()
                .anyMatch(other -> other.version() == version && other.dataset().equals(dataset));
    }

    private synchronized void noteVersion(String dataset, long version) {
        lastVersions.merge(dataset, version, Math::max);
    }

    /** From now on another thread may evict the version, so the caller must not change it afterwards. */
    synchronized void makeCurrent(PublishedVersion version) {
        noteVersion(version.dataset(), version.version());
        registered.remove(version.dataset());
        unverified.find(version.dataset()).filter(unverified::remove).ifPresent(retired::add);
        PublishedVersion previous = current.get(version.dataset());
        if (previous != null && previous.version() > version.version()) {
            retired.add(version);
            return;
        }
        current.put(version.dataset(), version);
        if (previous != null) {
            retired.add(previous);
        }
    }

    synchronized void retire(PublishedVersion version) {
        retired.add(version);
    }

    /**
     * Removes the retired versions that are not leased, and returns how many remain. Freeing memory takes time, so no lock is held
     * meanwhile. A version that another thread removed first counts as removed.
     */
    public int removeRetired() {
        for (PublishedVersion version : retired()) {
            remove(version, RemovalReason.RETIRED, () -> forget(version));
        }
        return retired().size();
    }

    synchronized void forget(PublishedVersion version) {
        boolean isKnown = isCurrent(version)
                ? current.remove(version.dataset()) != null
                : retired.removeIf(version::isSameAs) || unverified.remove(version);
        if (isKnown) { // otherwise another version has its number now
            usage.forget(version);
        }
    }

    private synchronized boolean isCurrent(PublishedVersion version) {
        PublishedVersion now = current.get(version.dataset());
        return now != null && now.isSameAs(version);
    }

    /**
     * Removes the current version of a dataset. Refuses if it is leased or pinned.
     *
     * @param forgetSource whether to forget its sources as well, so that it is not loaded again on request
     * @return the removed version; empty if only a source was known, and was forgotten
     */
    public Optional<PublishedVersion> evict(String dataset, boolean forgetSource) {
        if (forgetSource && registration(dataset).isPresent()) {
            forgetSource(dataset);
            return Optional.empty();
        }
        PublishedVersion version = require(dataset);
        if (!tryEvict(version, forgetSource)) {
            throw staying(version);
        }
        return Optional.of(version);
    }

    private LarderException staying(PublishedVersion version) {
        return store.isPinned(version)
                ? Failure.of(ErrorCode.REFUSED, "dataset is pinned")
                        .with("dataset", version.dataset())
                        .with("version", version.version())
                        .remedy("larder unpin " + version.dataset() + " first")
                : Failure.of(ErrorCode.REFUSED, "dataset is in use")
                        .with("dataset", version.dataset())
                        .with("version", version.version())
                        .with("pids", store.leases().holders(version.folder()))
                        .remedy("evict it when its readers have ended");
    }

    /** Removes a version that is not leased. If it can be loaded again, it stays registered. Returns false if it is leased or pinned. */
    boolean tryEvict(PublishedVersion version, boolean forgetSource) {
        boolean isReloadable = version.isSourced() && !forgetSource;
        EvictEvent event = FlightRecording.isOn() ? EvictEvent.of(version, isReloadable) : null;
        setBeingRemoved(version, true);
        try {
            boolean isRemoved = remove(version, isReloadable ? RemovalReason.EVICTED : RemovalReason.FORGOTTEN, () -> {
                evictions.increment();
                if (isReloadable) {
                    setRegistered(Registration.of(version)); // first, or the dataset would be unknown for a moment
                } else {
                    forgetSource(version.dataset());
                }
                forget(version);
            });
            if (isRemoved && event != null) {
                event.commit();
            }
            return isRemoved;
        } finally {
            setBeingRemoved(version, false);
        }
    }

    /** Counts the space of a version as used until its memory is free, which may take seconds after it is hidden. */
    private boolean remove(PublishedVersion version, RemovalReason reason, Runnable onHidden) {
        AtomicBoolean isHidden = new AtomicBoolean();
        try {
            return store.removeUnleased(version, reason, () -> {
                synchronized (this) { // not held longer, because onHidden takes the lock of names
                    freeing.add(version);
                }
                isHidden.set(true);
                onHidden.run();
            });
        } finally {
            if (isHidden.get()) {
                synchronized (this) {
                    freeing.remove(version);
                }
            }
        }
    }

    /** Returns the space that is about to be freed, in bytes. */
    synchronized long freeingBytes() {
        return storedBytes(freeing);
    }

    private synchronized void setRegistered(Registration registration) {
        registered.put(registration.dataset(), registration);
    }

    synchronized void setBeingRemoved(PublishedVersion version, boolean isBeingRemoved) {
        beingRemoved.merge(
                version.folder(), isBeingRemoved ? 1 : -1, (trying, more) -> trying + more == 0 ? null : trying + more);
    }

    /**
     * Reserves space before it is written, and evicts data that can be loaded again if that makes room; see {@link Reservation#grow},
     * because more may be needed later. The caller closes it.
     *
     * @param hasClients called while it waits, now and whenever the reservation grows; returns false if no client waits for the load
     * @throws LarderException NO_SPACE with all numbers; nothing is changed then
     * @throws java.util.concurrent.CancellationException if {@code hasClients} returned false
     */
    public Reservation reserve(long neededBytes, BooleanSupplier hasClients) {
        return reserve(neededBytes, 1, 1, hasClients);
    }

    /** Reserves space as {@link #reserve(long, BooleanSupplier)} does, and allows for the manifests of this many datasets and arrays. */
    public Reservation reserve(long neededBytes, int datasets, long arrays, BooleanSupplier hasClients) {
        return admission.reserve(neededBytes, datasets, arrays, hasClients);
    }

    /** Starts an empty reservation that grows without evicting, for comparisons: evicting could remove the version that is compared. */
    public Reservation reserveWithoutEvicting() {
        return admission.reserveWithoutEvicting();
    }

    /** Applies a request to keep the current version of a dataset: pins it, or sets its time to live. */
    public void retain(String dataset, Retention retention) {
        find(dataset).ifPresent(version -> {
            if (retention.pinned()) {
                pin(dataset, true);
            }
            long ttlMs = retention.ttl().toMillis();
            if (ttlMs > 0 && ttlMs != version.provenance().ttlMs()) {
                recordSources(version, version.provenance().withTtlMs(ttlMs));
            }
        });
    }

    /** Pins or unpins the current version of a dataset. */
    public void pin(String dataset, boolean pinned) {
        synchronized (pins) {
            store.pin(require(dataset), pinned);
        }
    }

    /** Protects a version that was just announced to a client, so that the client can lease it before it is evicted. */
    public void protect(PublishedVersion version) {
        usage.protect(version, clockMs.getAsLong());
    }

    /**
     * Checks all leases, evicts versions at the end of their time to live, and gives up versions that have lost files to another program.
     *
     * @param everyFile whether to check every file of each version, which takes longer
     * @param onVanished receives each version with missing files
     */
    public void sample(boolean everyFile, Consumer<PublishedVersion> onVanished) {
        useMonitor.sample(everyFile, onVanished);
    }

    /**
     * Checks whether a current version is whole. Restores a missing manifest or link. If arrays are missing, gives the version up; its
     * readers are not affected. If it has a source, it is registered and loaded on the next request; otherwise the rest is set aside,
     * because it may be the last copy.
     *
     * @return whether it was given up
     */
    public boolean repair(PublishedVersion version, Consumer<PublishedVersion> onVanished) {
        return repair.repair(version, onVanished);
    }

    /** Returns whether a version is current and is not being removed. */
    synchronized boolean isStaying(PublishedVersion version) {
        return isCurrent(version) && !beingRemoved.containsKey(version.folder());
    }

    /** Makes a version no longer current. Registers it if it has a source. Returns false if it is not current, or is being removed. */
    synchronized boolean giveUp(PublishedVersion version) {
        if (!isStaying(version)) {
            return false;
        }
        if (version.isSourced()) {
            setRegistered(Registration.of(version)); // even if there is no space to record it
            current.remove(version.dataset());
            retired.add(version);
        } else {
            forget(version);
        }
        return true;
    }

    /** Returns how many versions were evicted since the daemon started. */
    public long evictions() {
        return evictions.sum();
    }

    /** Returns when a version was last seen in use, in milliseconds since the epoch. */
    public long lastUseMs(PublishedVersion version) {
        return usage.lastUseMs(version);
    }

    /** Returns when each version was last used, for the next daemon. */
    public List<CatalogEntry> lastUses() {
        return all().stream()
                .map(version -> new CatalogEntry(version.dataset(), version.version(), usage.lastUseMs(version)))
                .toList();
    }

    /** Returns the current version of a dataset, or fails if there is none. */
    public PublishedVersion require(String dataset) {
        unverified.requireNone(dataset);
        return find(dataset).orElseThrow(() -> noSuchDataset(dataset));
    }

    /** Returns the current version of a dataset. */
    public synchronized Optional<PublishedVersion> find(String dataset) {
        return Optional.ofNullable(current.get(dataset));
    }

    /** Returns the current versions, sorted by dataset. */
    public synchronized List<PublishedVersion> current() {
        return List.copyOf(current.values());
    }

    /** Returns the versions that are visible only to their present readers. */
    public synchronized List<PublishedVersion> retired() {
        return List.copyOf(retired);
    }

    /** Returns every version that has files. */
    public synchronized List<PublishedVersion> all() {
        List<PublishedVersion> versions = new ArrayList<>(current.values());
        versions.addAll(retired);
        versions.addAll(unverified.all());
        return versions;
    }

    /** Returns the space that all versions occupy, in bytes, including memory that is being freed. */
    public synchronized long usedBytes() {
        List<PublishedVersion> using = all();
        freeing.stream()
                .filter(version -> using.stream().noneMatch(version::isSameAs))
                .forEach(using::add);
        return storedBytes(using);
    }

    /** Returns the space of the pinned versions, in bytes. */
    public long pinnedBytes() {
        return storedBytes(current().stream().filter(store::isPinned).toList());
    }

    static long storedBytes(List<PublishedVersion> versions) {
        return versions.stream().mapToLong(PublishedVersion::storedBytes).sum();
    }

    private Set<String> known() {
        Set<String> known = new HashSet<>(current.keySet());
        known.addAll(registered.keySet());
        return known;
    }

    /** Returns the error for a dataset or an array that is not resident. */
    public LarderException notResident(String name) {
        String array = Names.arrayIn(name);
        Optional<PublishedVersion> version = find(Names.datasetIn(name));
        return array != null && version.isPresent()
                ? version.get().noSuchArray(array)
                : noSuchDataset(Names.datasetIn(name));
    }

    /** Returns the error for a dataset that is not resident. It shows how to load the dataset, or similar names. */
    public synchronized LarderException noSuchDataset(String name) {
        if (registered.containsKey(name)) {
            return Failure.of(ErrorCode.NOT_FOUND, "dataset is not in memory now")
                    .with("dataset", name)
                    .with("store", store.layout().root())
                    .remedy("larder wait " + name + " loads it, as does opening it; larder evict --forget " + name
                            + " forgets it");
        }
        return NearNames.noSuchDataset(store.layout().root(), name, known());
    }
}
