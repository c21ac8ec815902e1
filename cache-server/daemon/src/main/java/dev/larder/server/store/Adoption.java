package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.lock.LeaseProbe;
import dev.larder.server.store.lock.LockRecord;
import dev.larder.server.store.space.Space;
import dev.larder.server.store.version.Manifest;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Reads the versions that an earlier daemon published in a store. One use, one thread. */
final class Adoption {
    /*
     * The store after a crash
     *
     * daemon.lock records the boot of the machine, and whether the last daemon stopped in order. They decide how far the next start
     * trusts the files in data:
     *
     *   INTACT       the daemon died but the machine did not: the kernel has kept every write
     *   UNVERIFIED   the machine stopped after a daemon had synced the store: clients wait until checksums have been compared
     *   UNTRUSTED    the machine stopped while a daemon ran, or another release wrote the store: any write may be missing
     *
     * The new daemon holds the exclusive lock of the store, so no other process changes data meanwhile. Clients may still read
     * versions that they lease. A start does, in this order:
     *
     *   1. StoreLock takes the lock and writes a record that keeps the trust of the old one
     *   2. TakeOver finishes an interrupted publication, if the store is INTACT, and then empties incoming
     *   3. this class decides on each version folder
     *   4. StoreLock marks the store as INTACT
     *   5. Residency points each link to the newest version
     *
     * Step 3, for a version that is
     *
     *   whole, and the newest      it is current
     *   whole, but not the newest  it is retired, and removed when it is not leased
     *   damaged, with sources      its sources are recorded, then it is removed; it is loaded again under the next number
     *   damaged, without sources   it is renamed to <version>.damaged: it may be the last copy
     *   without a manifest         it is removed, because its eviction had begun; see VersionNames.recordSource
     *   UNVERIFIED                 it is renamed to <version>.unverified, which no client opens. Recheck compares its checksums in the
     *                              background, and reveals it or gives it up. If it is leased, it is compared before the start ends
     *
     * A start that dies has done some of these renames and removals. Each leaves a state that the next start handles in the same
     * way: a suffix outlives a restart, and the sources of a version are recorded before it is removed. Before step 4, the next
     * start trusts the store no more than this one did.
     */
    private static final int MOST_NAMED = 100;

    private final Posix posix;
    private final StoreLayout layout;
    private final VersionNames names;
    private final LockRecord.Contents state;
    private final BooleanSupplier verifies;
    private final BiConsumer<Path, RuntimeException> onDamaged;
    private final VersionReader reader;
    private final Map<Path, Reading> readings = new ConcurrentHashMap<>();
    private final Set<Path> verifiedNow = new HashSet<>();
    private final List<Path> setAside = new ArrayList<>();
    private long distrusted;
    private final List<PublishedVersion> versions = new ArrayList<>();
    private final List<PublishedVersion> unverified = new ArrayList<>();
    private final List<PublishedVersion> retired = new ArrayList<>();
    private final List<Registration> registrations = new ArrayList<>();
    private final Map<String, Long> lastVersions = new HashMap<>();

    /**
     * Prepares to read a store.
     *
     * @param state how far its contents can be trusted
     * @param verifies whether every byte is compared with its checksum; called again during the comparison
     * @param onDamaged receives the folder and the error of each damaged version
     */
    Adoption(
            Posix posix,
            StoreLayout layout,
            VersionNames names,
            LockRecord.Contents state,
            BooleanSupplier verifies,
            BiConsumer<Path, RuntimeException> onDamaged) {
        this.posix = posix;
        this.layout = layout;
        this.names = names;
        this.state = state;
        this.verifies = verifies;
        this.onDamaged = onDamaged;
        this.reader = new VersionReader(posix, layout, posix.userId());
    }

    /** An entry of a dataset's folder. */
    private record Entry(Path path, boolean isFolder) {
        static Entry of(Path path) {
            return new Entry(path, Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS));
        }

        String name() {
            return fileName(path);
        }

        boolean isVersion() {
            return isFolder && !name().endsWith(VersionReader.DAMAGED);
        }
    }

    /**
     * Reads every whole version. A damaged version is removed if it can be loaded again, and set aside otherwise: it may be the last copy
     * of computed data. Versions that a damaged or evicted one had replaced stay retired. Other files are removed, because they may be in
     * the way.
     *
     * <p>Versions not checked since the machine stopped are held back, so that clients do not find them before their checksums have been
     * compared. If the machine stopped before the store was synced, every version counts as damaged.
     */
    Store.Adopted adopt() throws IOException {
        if (state == LockRecord.Contents.UNVERIFIED) {
            holdBackAll(versionFolders(datasets()));
        }
        Map<Path, List<Entry>> datasets = datasets();
        if (state != LockRecord.Contents.UNTRUSTED) {
            readAll(versionFolders(datasets));
        }
        for (Map.Entry<Path, List<Entry>> dataset : datasets.entrySet()) {
            adopt(dataset.getKey(), dataset.getValue());
        }
        reportAll();
        versions.sort(Comparator.comparing(PublishedVersion::dataset).thenComparing(PublishedVersion::version));
        return new Store.Adopted(versions, unverified, retired, registrations, lastVersions);
    }

    private void reportAll() {
        if (distrusted > 0) {
            onDamaged.accept(
                    layout.data(),
                    Failure.of(ErrorCode.CHECKSUM, "the machine stopped before the store was synced")
                            .with("store", layout.root())
                            .with("versionsToLoadAgain", distrusted)
                            .remedy("they are loaded again on request; larder stop --keep syncs a store"));
        }
        if (!setAside.isEmpty()) {
            onDamaged.accept(
                    layout.data(),
                    Failure.of(ErrorCode.CHECKSUM, "computed data was set aside")
                            .with("count", setAside.size())
                            .with("folders", setAside.subList(0, Math.min(MOST_NAMED, setAside.size())))
                            .remedy("copy the undamaged .npy files from there, or compute the data again"));
        }
    }

    /** Hides every version. A version that a client has already opened is verified before any other client can open it. */
    private void holdBackAll(List<Path> versionFolders) {
        LeaseProbe leases = new LeaseProbe(posix);
        for (Path version : versionFolders) {
            Path heldBack = version.resolveSibling(fileName(version) + VersionReader.UNVERIFIED);
            if (VersionReader.number(version) == 0 || isHeldBack(version)) {
                continue;
            }
            boolean isTaken = Files.exists(heldBack, LinkOption.NOFOLLOW_LINKS);
            if (isTaken || !leases.runUnleased(version, isLocked -> move(version, heldBack))) {
                verifiedNow.add(version);
            }
        }
    }

    private static boolean move(Path version, Path heldBack) {
        try {
            Files.move(version, heldBack, StandardCopyOption.ATOMIC_MOVE);
            return true;
        } catch (IOException e) {
            throw Space.failed("cannot hold a version back until it is verified", version, e);
        }
    }

    /** The result of reading a version: the version, or the error. */
    private record Reading(
            @Nullable PublishedVersion version, @Nullable RuntimeException failure) {
        PublishedVersion orThrow() {
            if (version == null) {
                throw Objects.requireNonNull(failure);
            }
            return version;
        }
    }

    /** Reads all versions in parallel before anything is decided, because clients are waiting. */
    private void readAll(List<Path> versionFolders) {
        versionFolders.parallelStream().forEach(folder -> readings.put(folder, tryRead(folder)));
    }

    /** Returns the folders of datasets with their entries. Removes other files. */
    private Map<Path, List<Entry>> datasets() throws IOException {
        Map<Path, List<Entry>> datasets = new LinkedHashMap<>();
        for (Path dataset : entries(layout.data())) {
            if (isFolder(dataset)) {
                datasets.put(dataset, entries(dataset).stream().map(Entry::of).toList());
            } else {
                new Removal().remove(dataset);
            }
        }
        return datasets;
    }

    private static List<Path> versionFolders(Map<Path, List<Entry>> datasets) {
        return datasets.values().stream()
                .flatMap(List::stream)
                .filter(Entry::isVersion)
                .map(Entry::path)
                .toList();
    }

    private static boolean isHeldBack(Path version) {
        return fileName(version).endsWith(VersionReader.UNVERIFIED);
    }

    /** Returns failures as values: an exception from another thread may arrive wrapped in another type. */
    private Reading tryRead(Path folder) {
        try {
            return new Reading(read(fileName(Objects.requireNonNull(folder.getParent())), folder), null);
        } catch (IOException e) {
            return new Reading(null, new UncheckedIOException(e));
        } catch (RuntimeException e) {
            return new Reading(null, e);
        }
    }

    /** The contents of a dataset's folder. */
    private static final class Contents {
        private final List<PublishedVersion> whole = new ArrayList<>();
        private final List<PublishedVersion> unverified = new ArrayList<>();
        private final List<Registration> sources = new ArrayList<>();
        private final List<Path> toRemove = new ArrayList<>();
        private long lastVersion;

        Optional<Registration> newestSource() {
            return sources.stream().max(Comparator.comparing(Registration::version));
        }

        /** Returns whether the newest whole version is the newest version of any kind. */
        boolean isResident() {
            return whole.stream().anyMatch(version -> version.version() == lastVersion);
        }

        /** Removes and returns the newest version from the held-back ones, if it is held back. */
        Optional<PublishedVersion> takeHeldBack() {
            Optional<PublishedVersion> newest = isResident()
                    ? Optional.empty()
                    : unverified.stream()
                            .filter(version -> version.version() == lastVersion)
                            .findFirst();
            newest.ifPresent(unverified::remove);
            return newest;
        }
    }

    private void adopt(Path dataset, List<Entry> entries) throws IOException {
        boolean hasRegistration =
                entries.stream().anyMatch(entry -> entry.name().equals(StoreLayout.REGISTERED));
        Contents contents = contents(dataset, entries, hasRegistration);
        lastVersions.put(fileName(dataset), contents.lastVersion);
        Optional<PublishedVersion> heldBack = contents.takeHeldBack();
        retired.addAll(contents.unverified);
        if (contents.isResident()) {
            versions.addAll(contents.whole); // the link is replaced in one step, so clients always find it
            if (hasRegistration) {
                Files.deleteIfExists(dataset.resolve(StoreLayout.REGISTERED));
            }
        } else {
            retired.addAll(contents.whole);
            Files.deleteIfExists(dataset.resolve(StoreLayout.CURRENT));
            Optional<Registration> source = contents.newestSource();
            if (heldBack.isPresent()) {
                unverified.add(heldBack.get());
            } else if (source.isPresent()) {
                adoptSource(source.get(), dataset);
            }
        }
        new Removal().removeAll(contents.toRemove); // only after the sources for loading it again are recorded
        if (contents.whole.isEmpty()) {
            Publication.deleteIfEmpty(dataset);
        }
    }

    private Contents contents(Path dataset, List<Entry> entries, boolean hasRegistration) throws IOException {
        Contents contents = new Contents();
        for (Entry entry : entries) {
            String name = entry.name();
            if (entry.isFolder) {
                contents.lastVersion = Math.max(contents.lastVersion, VersionReader.number(entry.path));
                if (entry.isVersion()) {
                    addVersion(dataset, entry.path, contents);
                }
            } else if (!name.equals(StoreLayout.CURRENT) && !name.equals(StoreLayout.REGISTERED)) {
                new Removal().remove(entry.path);
            }
        }
        if (hasRegistration) {
            registration(dataset).ifPresent(contents.sources::add);
        }
        long sourceVersion = contents.newestSource().map(Registration::version).orElse(0L);
        contents.lastVersion = Math.max(contents.lastVersion, sourceVersion);
        return contents;
    }

    private void adoptSource(Registration registration, Path dataset) throws IOException {
        registrations.add(registration);
        if (!registration(dataset).equals(Optional.of(registration))) {
            names.writeRegistration(registration);
        }
    }

    /** Adds a version, or the sources to load it again. */
    private void addVersion(Path dataset, Path folder, Contents contents) throws IOException {
        if (state == LockRecord.Contents.UNTRUSTED && VersionReader.number(folder) > 0) {
            distrust(dataset, folder, contents);
            return;
        }
        try {
            PublishedVersion version =
                    readings.computeIfAbsent(folder, this::tryRead).orThrow();
            (isHeldBack(folder) ? contents.unverified : contents.whole).add(version);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (LarderException e) {
            if (e.code() != ErrorCode.CHECKSUM && e.code() != ErrorCode.REFUSED) {
                throw e; // such as too many open files, which shows nothing about the version itself
            }
            Optional<Registration> again = source(dataset, folder);
            again.ifPresent(contents.sources::add);
            if (again.isEmpty() && Files.exists(folder.resolve(StoreLayout.MANIFEST))) {
                setAside.add(setAside(folder));
            } else {
                contents.toRemove.add(folder);
            }
            onDamaged.accept(folder, e);
        }
    }

    /**
     * Records the sources of a version, or sets it aside if it has none. A version without a manifest is set aside too, unless its eviction
     * had begun.
     */
    private void distrust(Path dataset, Path folder, Contents contents) throws IOException {
        Optional<Registration> again = source(dataset, folder);
        boolean isBeingEvicted = !Files.exists(folder.resolve(StoreLayout.MANIFEST))
                && Files.exists(dataset.resolve(StoreLayout.REGISTERED), LinkOption.NOFOLLOW_LINKS);
        again.ifPresent(contents.sources::add);
        if (again.isPresent() || isBeingEvicted) {
            contents.toRemove.add(folder);
            distrusted++;
        } else {
            setAside.add(setAside(folder));
        }
    }

    private static Optional<Registration> source(Path dataset, Path folder) {
        try {
            Provenance provenance = Manifest.readProvenance(folder.resolve(StoreLayout.MANIFEST));
            if (provenance.origins().isEmpty()) {
                return Optional.empty();
            }
            boolean pinned = Files.exists(folder.resolve(StoreLayout.PINNED));
            return Optional.of(
                    Registration.ofLost(fileName(dataset), VersionReader.number(folder), provenance, pinned));
        } catch (LarderException unreadable) {
            return Optional.empty();
        }
    }

    static Path asideOf(Path folder) {
        return folder.resolveSibling(VersionReader.plainName(fileName(folder)) + VersionReader.DAMAGED);
    }

    /** Renames the last copy of computed data so that it is no longer a version; returns the new folder. */
    static Path setAside(Path folder) throws IOException {
        Path aside = asideOf(folder);
        new Removal().remove(aside);
        Files.move(folder, aside, StandardCopyOption.ATOMIC_MOVE);
        return aside;
    }

    private Optional<Registration> registration(Path dataset) throws IOException {
        Path file = dataset.resolve(StoreLayout.REGISTERED);
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        try {
            return Optional.of(Manifest.readRegistration(file, fileName(dataset), posix.userId()));
        } catch (LarderException e) {
            new Removal().remove(file);
            onDamaged.accept(file, e);
            return Optional.empty();
        }
    }

    private static boolean isFolder(Path path) {
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    private static List<Path> entries(Path parent) throws IOException {
        try (Stream<Path> entries = Files.list(parent)) {
            return entries.toList();
        }
    }

    private PublishedVersion read(String dataset, Path folder) throws IOException {
        PublishedVersion version = reader.read(dataset, folder);
        // a requested check may be skipped if the daemon stops, a necessary one may not
        BooleanSupplier mayContinue = verifiedNow.contains(folder) ? () -> true : verifies;
        if (mayContinue.getAsBoolean()) {
            version.arrays().parallelStream().forEach(array -> requireChecksum(folder, array, mayContinue));
        }
        return version;
    }

    private static void requireChecksum(Path folder, ArrayEntry array, BooleanSupplier mayContinue) {
        CRC32C crc = new CRC32C();
        Path file = folder.resolve(array.file());
        try {
            DataChecksum.update(crc, file, array.offset(), array.byteSize(), bytes -> mayContinue.getAsBoolean());
        } catch (IOException e) {
            throw VersionReader.damaged(folder, "array cannot be read: " + array.name(), e);
        }
        if ((int) crc.getValue() != array.crc32c() && mayContinue.getAsBoolean()) {
            throw VersionReader.damaged(folder, "array does not match its checksum: " + array.name(), null);
        }
    }

    private static String fileName(Path path) {
        return String.valueOf(path.getFileName());
    }
}
