package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.MemoryPolicy;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.lock.LeaseProbe;
import dev.larder.server.store.lock.StoreLock;
import dev.larder.server.store.space.Mount;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.space.ScratchMemory;
import dev.larder.server.store.space.Space;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;
import java.util.stream.Stream;

/**
 * A store that this process owns: it holds the lock from {@link #open} until {@link #close} or {@link #removeAll}.
 *
 * <p>Makes the changes to files that its callers decide on. Thread-safe if concurrent calls name different versions.
 */
public final class Store implements AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int SECRET_BYTES = 16;

    private final Posix posix;
    private final StoreLayout layout;
    private final Optional<String> group;
    private volatile StoreLock lock;
    private final Space space;
    private final LeaseProbe leases;
    private final WriteStrategy strategy;
    private final boolean writersShow;
    private final MemoryPolicy memoryPolicy = BulkIo.system().memoryPolicy();
    private final Rings rings;
    private final RegionFiles regions;

    /**
     * The write lock is held while pages are examined, the read lock while versions are removed: removals run in parallel with each other,
     * but not with examinations.
     */
    private final ReentrantReadWriteLock pagesOrRemoval = new ReentrantReadWriteLock();

    /** Starts at the clock, so that no folder gets the name of one that a client had from an earlier daemon. */
    private final AtomicLong incomingCounter = new AtomicLong(System.currentTimeMillis());

    private final VersionNames names;

    private final Object ownership = new Object();
    private boolean givenUp;

    private Store(Posix posix, StoreLayout layout, Optional<String> group, StoreLock lock, Space space) {
        this.posix = posix;
        this.layout = layout;
        this.group = group;
        this.lock = lock;
        this.space = space;
        this.leases = new LeaseProbe(posix);
        this.strategy = WriteStrategy.of(layout.root(), BulkIo.system());
        this.writersShow = WriterProbe.showsMappings(posix, BulkIo.system(), newPath("probe"));
        this.names = new VersionNames(layout, () -> newPath("name"));
        this.rings = new Rings(posix, layout);
        this.regions = new RegionFiles(posix, layout, System::nanoTime);
    }

    /**
     * Opens a store, and creates it if it is missing. Refuses a store that another live daemon or another user owns. Removes unfinished
     * work. {@link #adopt} reads the published versions.
     *
     * @param group the group that may use it besides this user
     */
    public static Store open(StoreLayout layout, OptionalLong capacityBytes, Optional<String> group) {
        Posix posix = Posix.system();
        TakeOver.requireSocketPath(layout);
        try {
            if (group.isPresent()) {
                Modes.requireGroup(group.get());
            }
            TakeOver.requireNoDaemon(layout);
            StoreLock lock = TakeOver.takeLock(posix, layout);
            try {
                long heldBytes = TakeOver.prepare(posix, layout, lock.contents(), group);
                return new Store(posix, layout, group, lock, new Space(layout.root(), capacityBytes, heldBytes));
            } catch (IOException | RuntimeException | Error e) {
                lock.close();
                throw e;
            }
        } catch (IOException e) {
            throw Space.isFull(e)
                    ? Space.failed("cannot create the store", layout.root(), e)
                    : Failure.of(ErrorCode.REFUSED, "cannot create the store")
                            .with("store", layout.root())
                            .with("reason", e)
                            .cause(e)
                            .remedy("name a writable folder with --store");
        }
    }

    /**
     * Creates the folders and the lock of the store again if another program has removed them.
     *
     * @return false if they are in place, or the store was given up
     * @throws LarderException REFUSED if the folder now belongs to another user; see {@link #isTaken}
     */
    public boolean restoreIfRemoved() {
        synchronized (ownership) {
            return !givenUp && restore();
        }
    }

    private boolean restore() {
        boolean isGone = !lock.isInPlace();
        try {
            if (isGone) {
                StoreLock again = TakeOver.takeLock(posix, layout);
                lock.close();
                again.markAdopted();
                lock = again;
                Modes.apply(layout.root(), layout.data(), group);
            }
            if (!Files.isDirectory(layout.incoming(), LinkOption.NOFOLLOW_LINKS)) {
                Modes.makePassage(layout.incoming());
            }
            Publication.makeFolder(layout.data());
            Rings.makeFolder(layout);
            LoaderFiles.makeFolder(layout);
            RegionFiles.makeFolder(layout);
            return isGone;
        } catch (IOException e) {
            throw Space.failed("cannot create the store again", layout.root(), e);
        }
    }

    /** Returns whether another process owns the folder now. */
    public boolean isTaken() {
        return !lock.isInPlace() && StoreLock.isHeldByAnother(posix, layout.lock());
    }

    /** Returns whether this process still owns the folder. */
    public boolean isInPlace() {
        return lock.isInPlace();
    }

    /** Stops restoring a removed store. */
    private void giveUp() {
        synchronized (ownership) {
            givenUp = true;
        }
    }

    /** Returns the paths in the store. */
    public StoreLayout layout() {
        return layout;
    }

    /** Returns whether the owner before this one stopped in order, so that its catalog can be trusted. */
    public boolean wasLeftClean() {
        return lock.wasLeftClean();
    }

    /** Returns the {@code huge=} option of the store's mount. */
    public String hugePages() {
        return Mount.of(layout.root()).map(Mount::hugePages).orElse("never");
    }

    /** Returns the daemon's policy for memory nodes. */
    public MemoryPolicy memoryPolicy() {
        return memoryPolicy;
    }

    /** Returns the pages of a version; it has no pieces if the store's file system has no huge pages. */
    public VersionPages pages(PublishedVersion version) {
        return strategy == WriteStrategy.BUFFERED
                ? NoPages.INSTANCE
                : new StoredPages(posix, pagesOrRemoval.writeLock(), version);
    }

    /** Returns how many bytes the store may hold. */
    public long capacityBytes() {
        return space.capacityBytes();
    }

    /** Returns how much the mount and the cgroup allowed the store to hold when it was opened. The capacity may be smaller. */
    public long mostBytes() {
        return space.mostBytes();
    }

    /**
     * Returns how much may still be added.
     *
     * @param usedBytes returns the space of all versions
     */
    public long freeBytes(LongSupplier usedBytes) {
        return space.freeBytes(withShared(usedBytes));
    }

    /** Returns the space that running loads have reserved, in bytes. */
    public long reservedBytes() {
        return space.reservedBytes();
    }

    private LongSupplier withShared(LongSupplier usedBytes) {
        return () -> usedBytes.getAsLong() + sharedBytes();
    }

    /** Starts an empty reservation that {@code growth} grows. The caller closes it. */
    public Reservation newReservation(Reservation.Growth growth) {
        return space.newReservation(growth);
    }

    /**
     * Reserves more space before it is written. Returns false and changes nothing if it does not fit.
     *
     * @param usedBytes returns the space of all versions
     */
    public boolean tryGrow(Reservation reservation, long moreBytes, LongSupplier usedBytes) {
        return space.tryGrow(reservation, moreBytes, withShared(usedBytes));
    }

    /** Returns how many bytes must be freed before {@link #tryGrow} can succeed. */
    public long missingBytes(Reservation reservation, long moreBytes, LongSupplier usedBytes) {
        return space.missingBytes(reservation, moreBytes, withShared(usedBytes));
    }

    /** Counts versions as used and shrinks their reservation by the same amount, in one step. */
    public void handOver(Reservation reservation, List<PublishedVersion> versions, Runnable makeUsed) {
        space.handOver(
                reservation,
                versions.stream().mapToLong(PublishedVersion::storedBytes).sum(),
                makeUsed);
    }

    /** Removes the rings of dead producers and the regions that no process has attached, and measures the others. */
    public void sweepShared() {
        try {
            rings.sweep();
            LoaderFiles.sweep(posix, layout);
            regions.sweep();
        } catch (IOException e) {
            throw Space.failed("cannot clean up rings, regions and counters of loaders", layout.root(), e);
        }
    }

    /** Returns the space of data that other processes write, in bytes: rings, measured at the last {@link #sweepShared}, and regions. */
    public long sharedBytes() {
        return rings.liveBytes() + regions.byteSize();
    }

    /** Returns the regions of the store. They are closed with it. */
    public RegionFiles regions() {
        return regions;
    }

    /** Returns the space of this many manifests that counts as used; 0 if pages are small. */
    public long manifestBytes(int versions) {
        return versions * Mount.manifestBytes(layout.root());
    }

    /** Returns the space that a file of this length occupies. */
    public static long storedBytes(long fileBytes) {
        return ByteSums.roundUp(fileBytes, PageSize.BYTES);
    }

    /** Creates temporary memory in the store that grows a reservation. The caller closes it, then the reservation. */
    public ScratchMemory newScratch(Reservation reservation) {
        return new ScratchMemory(posix, () -> newPath("scratch"), reservation);
    }

    /** Starts a version that is invisible to readers. The caller closes it. */
    public IncomingVersion newIncoming(String dataset, Provenance provenance) {
        Path folder = newPath(dataset);
        try {
            Modes.makePrivateFolder(folder);
            return newIncoming(dataset, provenance, folder);
        } catch (IOException e) {
            throw Space.failed("cannot start a version", folder, e);
        }
    }

    private IncomingVersion newIncoming(String dataset, Provenance provenance, Path folder) throws IOException {
        int fileMode = Modes.fileMode(layout.root());
        return new IncomingVersion(posix, dataset, provenance, folder, fileMode, strategy, writersShow);
    }

    /** Starts a version for a member of the group, who writes its files. Its folder has a name that cannot be guessed. */
    public IncomingVersion newUpload(String dataset, Provenance provenance) {
        byte[] secret = new byte[SECRET_BYTES];
        RANDOM.nextBytes(secret);
        Path folder = newPath(HexFormat.of().formatHex(secret));
        try {
            Modes.makePassage(folder);
            return newIncoming(dataset, provenance, folder);
        } catch (IOException e) {
            throw Space.failed("cannot start an upload", folder, e);
        }
    }

    /**
     * Makes finished versions visible, all or none. Readers see each version whole or not at all. The caller then calls {@link #handOver}.
     *
     * @param reservation the reservation of their space
     * @param nextVersion returns the number of a dataset's next version, by dataset and digest
     */
    public List<PublishedVersion> publish(
            List<IncomingVersion> incoming,
            Reservation reservation,
            ToLongBiFunction<String, String> nextVersion,
            long nowEpochMs) {
        Publication publication = new Publication(posix, layout, () -> newPath("link"));
        try {
            for (IncomingVersion version : incoming) {
                long number = nextVersion.applyAsLong(version.dataset(), version.digest());
                publication.prepare(version, number, nowEpochMs);
            }
            reservation.freeze();
            try {
                return names.publish(publication);
            } catch (IOException | RuntimeException | Error e) {
                reservation.thaw();
                throw e;
            }
        } catch (IOException e) {
            throw Space.failed("cannot publish", layout.data(), e);
        }
    }

    /** Returns an unused path in {@code incoming}. */
    private Path newPath(String suffix) {
        return layout.incoming().resolve(incomingCounter.incrementAndGet() + "-" + suffix);
    }

    /**
     * Replaces the manifest of a version after its sources have changed in appearance but not in content. Does nothing if the version is
     * gone.
     */
    public void rewriteManifest(PublishedVersion version) {
        names.rewriteManifest(version);
    }

    /** Records the sources of a dataset. The record survives restarts. */
    public void writeRegistration(Registration registration) {
        names.writeRegistration(registration);
    }

    /** Forgets the sources of a dataset. */
    public void removeRegistration(String dataset) {
        names.removeRegistration(dataset);
    }

    /** Pins or unpins a version. Survives restarts. Fails with NOT_FOUND if the version has just been removed. */
    public void pin(PublishedVersion version, boolean pinned) {
        names.pin(version, pinned);
    }

    /** Returns whether a version is pinned. */
    public boolean isPinned(PublishedVersion version) {
        return VersionNames.isPinned(version);
    }

    /** Returns the files of a version that are missing from the store. Does not look at contents. */
    public List<String> missingFiles(PublishedVersion version) {
        Path folder = version.folder();
        return Stream.concat(
                        Stream.of(StoreLayout.LEASE, StoreLayout.INDEX, StoreLayout.MANIFEST),
                        version.arrays().stream()
                                .map(ArrayEntry::file)
                                .filter(file -> !SegmentFile.isOutside(file))
                                .distinct())
                .filter(file -> !Files.exists(folder.resolve(file)))
                .toList();
    }

    /** Points the link of a dataset to this version, in one step, unless it does already. */
    public void pointCurrentTo(PublishedVersion version) throws IOException {
        names.pointCurrentTo(version);
    }

    /**
     * Restores the link of a dataset if another program has removed it.
     *
     * @param isStillCurrent called while nothing is published or removed
     * @return whether it was missing
     */
    public boolean restoreCurrent(PublishedVersion version, BooleanSupplier isStillCurrent) {
        try {
            return names.restoreCurrent(version, isStillCurrent);
        } catch (IOException e) {
            throw Space.failed("cannot recreate the link to a version", layout.current(version.dataset()), e);
        }
    }

    /**
     * Removes a version that is not leased, and the link to it. Also removes one that has lost files to another program.
     *
     * @param onHidden runs when no client can find the version any more, before its memory is freed, which takes time
     * @return false, with nothing changed, if it is leased, or pinned and not retired
     */
    public boolean removeUnleased(PublishedVersion version, RemovalReason reason, Runnable onHidden) {
        return leases.runUnleased(version.folder(), isLocked -> {
            try {
                Path gone = newPath("gone");
                if (!names.hide(version, reason, isLocked, gone)) {
                    return false;
                }
                onHidden.run();
                pagesOrRemoval.readLock().lock();
                try {
                    new Removal().remove(gone);
                } finally {
                    pagesOrRemoval.readLock().unlock();
                }
                return true;
            } catch (IOException e) {
                throw Space.failed("cannot remove a version", version.folder(), e);
            }
        });
    }

    /** Returns the folder into which {@link #setAside} moves the rest of a version. */
    public static Path asideOf(PublishedVersion version) {
        return Adoption.asideOf(version.folder());
    }

    /** Renames the rest of a version so that it is no longer a version. Its readers are not affected. Does nothing if nothing is left. */
    public void setAside(PublishedVersion version) {
        try {
            names.setAside(version);
        } catch (IOException e) {
            throw Space.failed("cannot set a version aside", version.folder(), e);
        }
    }

    /**
     * Makes a held-back version visible after its checksums have been compared, and returns its description in the new place. Returns empty
     * and does nothing if a newer version is current.
     */
    public Optional<PublishedVersion> reveal(PublishedVersion unverified) {
        try {
            return names.reveal(unverified);
        } catch (IOException e) {
            throw Space.failed("cannot put a verified version in place", unverified.folder(), e);
        }
    }

    /** Removes the link of a dataset if it points to this version. */
    public void unlinkCurrent(PublishedVersion version) {
        try {
            names.unlinkCurrent(version);
        } catch (IOException e) {
            throw Space.failed("cannot hide a version", version.folder(), e);
        }
    }

    /** Returns the probe for leases. */
    public LeaseProbe leases() {
        return leases;
    }

    /**
     * Finds every whole version, oldest first within a dataset, and the sources of datasets that are not resident.
     *
     * @param verifies whether to compare every byte with its checksum; called again during the comparison
     * @param onDamaged receives each damaged version and the error; the version is removed if it can be loaded again, else set aside
     */
    public Adopted adopt(BooleanSupplier verifies, BiConsumer<Path, RuntimeException> onDamaged) throws IOException {
        Adopted adopted = new Adoption(posix, layout, names, lock.contents(), verifies, onDamaged).adopt();
        lock.markAdopted();
        return adopted;
    }

    /**
     * The contents of a store as an earlier daemon left it.
     *
     * @param versions those of resident datasets, oldest first
     * @param unverified those that clients cannot open before their checksums have been compared; see {@link #reveal}
     * @param retired older versions of datasets that lost their newest version
     * @param registrations datasets that are not resident but can be loaded
     * @param lastVersions the highest version number ever used, by dataset
     */
    public record Adopted(
            List<PublishedVersion> versions,
            List<PublishedVersion> unverified,
            List<PublishedVersion> retired,
            List<Registration> registrations,
            Map<String, Long> lastVersions) {}

    /**
     * Removes everything but the memory that readers still hold, and gives the store up.
     *
     * @param versions the versions that may be leased
     */
    public CleanUp removeAll(List<PublishedVersion> versions) throws IOException {
        giveUp();
        return new StoreRemoval(posix, layout, lock, leases, rings, regions).run(versions);
    }

    /** Gives the store up after a failed start. Removes it if it is empty, otherwise leaves it for the next start. */
    public void abandon() {
        try (Stream<Path> datasets = Files.list(layout.data())) {
            if (datasets.findAny().isEmpty() && Rings.entries(layout).isEmpty()) {
                removeAll(List.of());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.close();
        }
    }

    /** Gives the store up and leaves it in order for the next start. Idempotent. */
    @Override
    public void close() {
        giveUp();
        regions.close();
        if (lock.isInPlace()) {
            lock.markClean();
        }
        lock.close();
    }
}
