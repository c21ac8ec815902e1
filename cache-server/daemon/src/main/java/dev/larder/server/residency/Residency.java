package dev.larder.server.residency;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.NearNames;
import dev.larder.internal.protocol.Retention;
import dev.larder.server.catalog.Catalog;
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

/**
 * The versions of a store: one is current for each dataset, others are retired and leave with their last lease. Thread-safe.
 */
public final class Residency {
    private static final Logger LOG = LoggerFactory.getLogger(Residency.class);

    private final Store store;
    private final CatalogSync catalog;
    private final LongSupplier clockMs;
    private final Map<String, PublishedVersion> current = new TreeMap<>();
    private final List<PublishedVersion> retired = new ArrayList<>();
    private final Map<String, Long> lastVersions = new HashMap<>();
    private final Map<String, Registration> registered = new TreeMap<>();

    /** How many threads are trying to remove each version. */
    private final Map<Path, Integer> leaving = new HashMap<>();

    /** What nobody finds any more, and whose memory is about to be free. */
    private final List<PublishedVersion> departing = new ArrayList<>();

    /** Held while a pin changes, and while it goes from one version to the next. */
    private final Object pins = new Object();

    private final Usage usage = new Usage();
    private final LongAdder evictions = new LongAdder();
    private final Admission admission;
    private final Repair repair;
    private final UseMonitor uses;
    private final HeldBack heldBack;

    /**
     * Creates an empty one that keeps the catalog up to date.
     *
     * @param onCatalogError told where the catalog fails, which changes nothing else: the store is the truth
     * @param clockMs the time, in milliseconds since the epoch
     */
    public Residency(Store store, Catalog catalog, Consumer<Throwable> onCatalogError, LongSupplier clockMs) {
        this.store = store;
        this.catalog = new CatalogSync(catalog, onCatalogError);
        this.clockMs = clockMs;
        this.admission = new Admission(store, this, usage, clockMs);
        this.repair = new Repair(store, this);
        this.uses = new UseMonitor(store, this, this.catalog, usage, repair, clockMs);
        this.heldBack = new HeldBack(store, this);
    }

    /** Takes over what an earlier daemon left in the store; see {@link Store#adopt}. */
    public void adopt(BooleanSupplier verifies, BiConsumer<Path, RuntimeException> onDamaged) throws IOException {
        Store.Adopted adopted = store.adopt(verifies, onDamaged);
        adopted.versions().forEach(this::makeCurrent);
        synchronized (this) {
            retired.addAll(adopted.retired());
            heldBack.addAll(adopted.unverified());
        }
        for (PublishedVersion version : current()) {
            store.pointCurrentTo(version);
        }
        for (Registration registration : adopted.registrations()) {
            setRegistered(registration);
            noteVersion(registration.dataset(), registration.version());
        }
        adopted.lastVersions().forEach(this::noteVersion);
        catalog.reconcile(all(), usage, clockMs.getAsLong()).forEach(this::noteVersion);
        removeRetired();
    }

    /** Returns the versions that clients cannot open yet. */
    public HeldBack heldBack() {
        return heldBack;
    }

    /**
     * Makes finished versions the current ones, all or none, and retires those before them; what was pinned stays pinned. What they
     * occupy counts as used from then on, and no longer as set aside. The caller closes the reservation, and then calls
     * {@link #removeReplaced}.
     */
    public List<PublishedVersion> publish(List<IncomingVersion> incoming, Reservation reservation) {
        Set<String> inheriting = new HashSet<>(); // their pin, which may be gone by the time the new version is current
        for (IncomingVersion version : incoming) {
            Optional<PublishedVersion> before = find(version.dataset()).or(() -> heldBack.find(version.dataset()));
            if (!version.isPinned() && before.filter(store::isPinned).isPresent()) {
                version.pin();
                inheriting.add(version.dataset());
            }
        }
        List<PublishedVersion> versions = store.publish(incoming, reservation, this::nextVersion, clockMs.getAsLong());
        versions.forEach(version -> catalog.add(version, usage.lastUseMs(version)));
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

    /** Looks again, as somebody may have pinned or unpinned the old version while the new one was published. */
    private void handPinOver(PublishedVersion retiring, PublishedVersion version, boolean inherits) {
        try {
            boolean pinned = store.isPinned(retiring);
            if (pinned || inherits) {
                store.pin(version, pinned);
                store.pin(retiring, false);
            }
        } catch (LarderException e) { // what was published stays so
            LOG.warn("a version may have lost the pin of the version before it: {}", e.getMessage());
        }
    }

    /** Unlinks what a publication has replaced and nobody leases; where that fails, the next look tries again. */
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

    /** Notes where a dataset can be loaded from, without loading it. */
    public void register(Registration registration) {
        store.writeRegistration(registration);
        setRegistered(registration);
    }

    /** Refuses to note another source for what is resident. */
    public void requireRegistrable(String dataset) {
        heldBack.requireNone(dataset);
        if (find(dataset).isPresent()) {
            throw Failure.of(ErrorCode.REFUSED, "dataset is resident already")
                    .with("dataset", dataset)
                    .remedy("load it from another path with larder load, or run larder evict --forget " + dataset
                            + " first");
        }
    }

    /** Returns what is known of a dataset that is not resident but can be loaded. */
    public synchronized Optional<Registration> registration(String dataset) {
        return current.containsKey(dataset) ? Optional.empty() : Optional.ofNullable(registered.get(dataset));
    }

    /** Returns everything that is not resident but can be loaded, sorted by dataset. */
    public synchronized List<Registration> registrations() {
        return registered.values().stream()
                .filter(registration -> !current.containsKey(registration.dataset()))
                .toList();
    }

    /** Notes what the sources of a version look like now that they were found to hold what they held. */
    public void recordSources(PublishedVersion version, Provenance provenance) {
        PublishedVersion updated = version.withProvenance(provenance);
        store.rewriteManifest(updated);
        synchronized (this) {
            PublishedVersion now = current.get(version.dataset());
            if (now != null && now.isSameAs(version)) {
                current.put(version.dataset(), updated);
                catalog.add(updated, usage.lastUseMs(updated));
            }
        }
    }

    /** Notes what a shard is a part of; fails where another version has its place by now. */
    public void noteWhole(String dataset, String digest, String of) {
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
            recordSources(version, version.provenance().withShard(shard.of(of)));
        }
    }

    /** Returns where a dataset came from when it last had these contents, if that is known. */
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
     * Gives every number once, also where publishing it fails; but what was evicted and comes back as it was has its number again.
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

    /** From here on the version may be evicted, and registered, by others: nothing of it is to be touched afterwards. */
    synchronized void makeCurrent(PublishedVersion version) {
        noteVersion(version.dataset(), version.version());
        registered.remove(version.dataset());
        heldBack.find(version.dataset()).filter(heldBack::remove).ifPresent(retired::add);
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
     * Unlinks the retired versions that nobody leases any more, and returns how many remain. Freeing memory takes time, so no lock
     * is held meanwhile; a version that another thread removed first counts as removed.
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
                : retired.removeIf(version::isSameAs) || heldBack.remove(version);
        if (isKnown) { // else what has its number by now is another
            usage.forget(version);
            catalog.remove(version);
        }
    }

    private synchronized boolean isCurrent(PublishedVersion version) {
        PublishedVersion now = current.get(version.dataset());
        return now != null && now.isSameAs(version);
    }

    /**
     * Removes the current version of a dataset; refuses while anybody leases or has pinned it.
     *
     * @param forgetSource whether to forget as well where it comes from, so that it does not come back when it is asked for
     * @return what was removed; nothing where only a source was known, and was forgotten
     */
    public Optional<PublishedVersion> evict(String dataset, boolean forgetSource) {
        if (forgetSource && registration(dataset).isPresent()) {
            forgetSource(dataset);
            return Optional.empty();
        }
        PublishedVersion version = require(dataset);
        if (!letGo(version, forgetSource)) {
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

    /** Removes a version that nobody leases; what can be loaded again stays registered. False where it is leased or pinned. */
    boolean letGo(PublishedVersion version, boolean forgetSource) {
        boolean comesBack = version.isSourced() && !forgetSource;
        setLeaving(version, true);
        try {
            return remove(version, comesBack ? RemovalReason.COMES_BACK : RemovalReason.FORGOTTEN, () -> {
                evictions.increment();
                if (comesBack) {
                    setRegistered(Registration.of(version)); // first, or there is a moment in which nobody knows it
                } else {
                    forgetSource(version.dataset());
                }
                forget(version);
            });
        } finally {
            setLeaving(version, false);
        }
    }

    /** Counts what a version occupies as used until its memory is free, which may take seconds after it is out of sight. */
    private boolean remove(PublishedVersion version, RemovalReason reason, Runnable onOutOfSight) {
        AtomicBoolean isDeparting = new AtomicBoolean();
        try {
            return store.removeUnleased(version, reason, () -> {
                synchronized (this) { // not around all of it: what follows also takes the lock of names
                    departing.add(version);
                }
                isDeparting.set(true);
                onOutOfSight.run();
            });
        } finally {
            if (isDeparting.get()) {
                synchronized (this) {
                    departing.remove(version);
                }
            }
        }
    }

    /** Returns what is about to be free, in bytes. */
    synchronized long departingBytes() {
        return storedBytes(departing);
    }

    private synchronized void setRegistered(Registration registration) {
        registered.put(registration.dataset(), registration);
    }

    synchronized void setLeaving(PublishedVersion version, boolean isLeaving) {
        leaving.merge(
                version.folder(), isLeaving ? 1 : -1, (trying, more) -> trying + more == 0 ? null : trying + more);
    }

    /**
     * Sets space aside before it is written, evicting what can come back where that makes the room; see {@link Reservation#grow}, as
     * more may be needed later. The caller closes it.
     *
     * @param isWanted asked while it waits, now and whenever the reservation grows
     * @throws LarderException NO_SPACE with all numbers, and nothing changed
     * @throws java.util.concurrent.CancellationException where nobody wants it any more
     */
    public Reservation reserve(long neededBytes, BooleanSupplier isWanted) {
        return reserve(neededBytes, 1, 1, isWanted);
    }

    /** Sets space aside as {@link #reserve(long, BooleanSupplier)} does, and allows for the manifests of so many datasets and arrays. */
    public Reservation reserve(long neededBytes, int datasets, long arrays, BooleanSupplier isWanted) {
        return admission.reserve(neededBytes, datasets, arrays, isWanted);
    }

    /** Starts a reservation of nothing that grows without evicting: who reads for a comparison must not lose what it compares. */
    public Reservation reserveWithoutEvicting() {
        return admission.reserveWithoutEvicting();
    }

    /** Keeps the current version of a dataset as long as was asked for, where that is longer than it would stay anyway. */
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

    /** Keeps the current version of a dataset resident until it is unpinned. */
    public void pin(String dataset, boolean pinned) {
        synchronized (pins) {
            store.pin(require(dataset), pinned);
        }
    }

    /** Notes that a version was just asked for: whoever asked has a moment to lease it before it may be evicted. */
    public void noteAsked(PublishedVersion version) {
        usage.protect(version, clockMs.getAsLong());
    }

    /**
     * Looks at what is leased, lets go what nobody has used for as long as it was to live, and gives up what somebody else has
     * removed the files of.
     *
     * @param everyFile whether to look for every file of each version, which takes longer
     * @param onVanished told of each version whose files are not all there any more
     */
    public void sample(boolean everyFile, Consumer<PublishedVersion> onVanished) {
        uses.sample(everyFile, onVanished);
    }

    /**
     * Looks whether a current version is whole. A manifest or a link that is lost is made anew. Where arrays are, the version is given
     * up; readers who have it open go on. What has a source is registered, and loaded when somebody asks for it; of what was computed,
     * the rest is set aside, as it may be all that is left.
     *
     * @return whether it was given up
     */
    public boolean repair(PublishedVersion version, Consumer<PublishedVersion> onVanished) {
        return repair.repair(version, onVanished);
    }

    /** Tells whether a version is current and nobody is removing it. */
    synchronized boolean isStaying(PublishedVersion version) {
        return isCurrent(version) && !leaving.containsKey(version.folder());
    }

    /** Takes a version out of what is current, where it is that; what has a source is known to come back. */
    synchronized boolean giveUp(PublishedVersion version) {
        if (!isStaying(version)) {
            return false;
        }
        if (version.isSourced()) {
            setRegistered(Registration.of(version)); // also where there is no room to note it
            current.remove(version.dataset());
            retired.add(version);
        } else {
            forget(version);
        }
        return true;
    }

    /** Returns how many versions were let go, on request, in time or for others, since the daemon started. */
    public long evictions() {
        return evictions.sum();
    }

    /** Returns when a version was last seen in use, in milliseconds since the epoch. */
    public long lastUseMs(PublishedVersion version) {
        return usage.lastUseMs(version);
    }

    /** Returns the current version of a dataset that has to have one. */
    public PublishedVersion require(String dataset) {
        heldBack.requireNone(dataset);
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

    /** Returns the versions that only their readers still see. */
    public synchronized List<PublishedVersion> retired() {
        return List.copyOf(retired);
    }

    /** Returns every version that has files. */
    public synchronized List<PublishedVersion> all() {
        List<PublishedVersion> versions = new ArrayList<>(current.values());
        versions.addAll(retired);
        versions.addAll(heldBack.all());
        return versions;
    }

    /** Returns what all versions occupy, in bytes, those included whose memory is only about to be free. */
    public synchronized long usedBytes() {
        List<PublishedVersion> using = all();
        departing.stream()
                .filter(version -> using.stream().noneMatch(version::isSameAs))
                .forEach(using::add);
        return storedBytes(using);
    }

    /** Returns what the leased versions occupy, in bytes. */
    public long leasedBytes() {
        return storedBytes(all().stream()
                .filter(version -> store.leases().isLeased(version.folder()))
                .toList());
    }

    /** Returns what the pinned versions occupy, in bytes. */
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

    /** Returns the refusal of a dataset or an array that is not resident. */
    public LarderException notResident(String name) {
        String array = Names.arrayIn(name);
        Optional<PublishedVersion> version = find(Names.datasetIn(name));
        return array != null && version.isPresent()
                ? version.get().noSuchArray(array)
                : noSuchDataset(Names.datasetIn(name));
    }

    /** Returns the refusal of a dataset that is not resident: how it comes back, or else names like it. */
    public synchronized LarderException noSuchDataset(String name) {
        if (registered.containsKey(name)) {
            return Failure.of(ErrorCode.NOT_FOUND, "dataset is not in memory now")
                    .with("dataset", name)
                    .with("store", store.layout().root())
                    .remedy("larder wait " + name + " loads it, as does whoever opens it; larder evict --forget " + name
                            + " forgets it");
        }
        List<String> near = NearNames.of(name, known());
        return Failure.of(ErrorCode.NOT_FOUND, "no such dataset")
                .with("dataset", name)
                .with("store", store.layout().root())
                .remedy(
                        !near.isEmpty()
                                ? "did you mean " + String.join(", ", near) + "? larder ls lists all"
                                : Names.datasetObjection(name) != null
                                        ? "larder ls lists all"
                                        : "larder ls lists all; larder load " + name + "=PATH loads it");
    }
}
