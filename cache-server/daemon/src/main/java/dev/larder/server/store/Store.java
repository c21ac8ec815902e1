package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
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
 * <p>Nothing here decides what is loaded or retired; it makes the files follow. Thread-safe where methods do not name the same
 * version.
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
    private final Rings rings;
    private final RegionFiles regions;

    /** Removals exclude whoever looks at pages, and not each other. */
    private final ReentrantReadWriteLock pagesOrRemoval = new ReentrantReadWriteLock();

    /** Counts from the time on, so that no folder is ever called as one that a client had from an earlier daemon. */
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
        this.writersShow = WriterProbe.showsMappings(posix, BulkIo.system(), newPlace("probe"));
        this.names = new VersionNames(layout, () -> newPlace("name"));
        this.rings = new Rings(posix, layout);
        this.regions = new RegionFiles(posix, layout, System::nanoTime);
    }

    /**
     * Takes a store over, making it where it is absent: refuses one that another live daemon or another user owns, removes
     * unfinished work. What was published is read by {@link #adopt}.
     *
     * @param group who may use it besides this user
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
                    ? Space.failed("cannot make the store", layout.root(), e)
                    : Failure.of(ErrorCode.REFUSED, "cannot make the store")
                            .with("store", layout.root())
                            .with("reason", e)
                            .cause(e)
                            .remedy("name a folder that you may write with --store");
        }
    }

    /**
     * Makes the store anew where somebody has removed it from under this process: its folders, and a lock that others find.
     *
     * @return false where it is in place, or was given up
     * @throws LarderException REFUSED where the place is not this user's any more; see {@link #isTaken}
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
            RegionFiles.makeFolder(layout);
            return isGone;
        } catch (IOException e) {
            throw Space.failed("cannot make the store anew", layout.root(), e);
        }
    }

    /** Tells whether another process owns what lies here by now. */
    public boolean isTaken() {
        return !lock.isInPlace() && StoreLock.isHeldByAnother(posix, layout.lock());
    }

    /** Tells whether this process owns what lies here. */
    public boolean isInPlace() {
        return lock.isInPlace();
    }

    /** From now on nothing is made anew. */
    private void giveUp() {
        synchronized (ownership) {
            givenUp = true;
        }
    }

    /** Returns where things lie. */
    public StoreLayout layout() {
        return layout;
    }

    /** Tells whether the owner before this one stopped in order, so that its catalog can be trusted. */
    public boolean wasLeftClean() {
        return lock.wasLeftClean();
    }

    /** Returns the {@code huge=} word of the store's mount. */
    public String hugePages() {
        return Mount.of(layout.root()).map(Mount::hugePages).orElse("never");
    }

    /** Returns the pages of a version; without any that could be huge where the store's file system has none to give. */
    public VersionPages pages(PublishedVersion version) {
        return strategy == WriteStrategy.BUFFERED
                ? NoPages.INSTANCE
                : new StoredPages(posix, pagesOrRemoval.writeLock(), version);
    }

    /** Returns how many bytes the store may hold. */
    public long capacityBytes() {
        return space.capacityBytes();
    }

    /** Returns how much mount and control group allowed the store to hold when it was opened, whatever its capacity. */
    public long mostBytes() {
        return space.mostBytes();
    }

    /** Returns how much may still be put in beside what versions occupy. */
    public long freeBytes(LongSupplier usedBytes) {
        return space.freeBytes(withShared(usedBytes));
    }

    /** Returns what ingests under way have set aside, in bytes. */
    public long reservedBytes() {
        return space.reservedBytes();
    }

    private LongSupplier withShared(LongSupplier usedBytes) {
        return () -> usedBytes.getAsLong() + sharedBytes();
    }

    /** Starts a reservation of nothing, which {@code growth} grows; the caller closes it. */
    public Reservation newReservation(Reservation.Growth growth) {
        return space.newReservation(growth);
    }

    /**
     * Sets more space aside before it is written; false, with nothing done, where it would not fit.
     *
     * @param usedBytes says what versions occupy
     */
    public boolean tryGrow(Reservation reservation, long moreBytes, LongSupplier usedBytes) {
        return space.tryGrow(reservation, moreBytes, withShared(usedBytes));
    }

    /** Returns how many bytes would have to leave before {@link #tryGrow} would succeed. */
    public long missingBytes(Reservation reservation, long moreBytes, LongSupplier usedBytes) {
        return space.missingBytes(reservation, moreBytes, withShared(usedBytes));
    }

    /** Has versions that were written within a reservation count as used, in one step with giving back as much of it. */
    public void handOver(Reservation reservation, List<PublishedVersion> versions, Runnable makeUsed) {
        space.handOver(
                reservation,
                versions.stream().mapToLong(PublishedVersion::storedBytes).sum(),
                makeUsed);
    }

    /** Removes the rings whose producers have died, and the regions that nobody has any more, and measures the others. */
    public void sweepShared() {
        try {
            rings.sweep();
            regions.sweep();
        } catch (IOException e) {
            throw Space.failed("cannot clean up rings and regions", layout.root(), e);
        }
    }

    /** Returns what other processes write: rings, as they were at the last {@link #sweepShared}, and regions, in bytes. */
    public long sharedBytes() {
        return rings.liveBytes() + regions.byteSize();
    }

    /** Returns the regions of the store, which close with it. */
    public RegionFiles regions() {
        return regions;
    }

    /** Returns what the manifests of so many versions will occupy beside their data; nothing where pages are small. */
    public long manifestBytes(int versions) {
        return versions * Mount.manifestBytes(layout.root());
    }

    /** Returns what a file of this length will occupy. */
    public static long storedBytes(long fileBytes) {
        return ByteSums.roundUp(fileBytes, PageSize.BYTES);
    }

    /** Makes memory for a load, which lies in the store and grows a reservation. The caller closes it, and then the reservation. */
    public ScratchMemory newScratch(Reservation reservation) {
        return new ScratchMemory(posix, () -> newPlace("scratch"), reservation);
    }

    /** Starts a version that is invisible to readers. The caller closes it. */
    public IncomingVersion newIncoming(String dataset, Provenance provenance) {
        Path folder = newPlace(dataset);
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

    /** Starts a version for a member of the group to write files of: its folder has a name that nobody can guess. */
    public IncomingVersion newUpload(String dataset, Provenance provenance) {
        byte[] secret = new byte[SECRET_BYTES];
        RANDOM.nextBytes(secret);
        Path folder = newPlace(HexFormat.of().formatHex(secret));
        try {
            Modes.makePassage(folder);
            return newIncoming(dataset, provenance, folder);
        } catch (IOException e) {
            throw Space.failed("cannot start an upload", folder, e);
        }
    }

    /**
     * Makes finished versions visible, each at once and whole: the rename of its folder is the commit. All of them, or none. The
     * caller hands them over then; see {@link #handOver}.
     *
     * @param reservation what they were written within
     * @param nextVersion gives the number of a dataset's next version, by dataset and digest
     */
    public List<PublishedVersion> publish(
            List<IncomingVersion> incoming,
            Reservation reservation,
            ToLongBiFunction<String, String> nextVersion,
            long nowEpochMs) {
        Publication publication = new Publication(posix, layout, () -> newPlace("link"));
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

    /** Returns a place where nobody looks. */
    private Path newPlace(String what) {
        return layout.incoming().resolve(incomingCounter.incrementAndGet() + "-" + what);
    }

    /**
     * Replaces the manifest of a version, where its sources turned out to hold what they held, but look different. One that is
     * gone meanwhile stays gone.
     */
    public void rewriteManifest(PublishedVersion version) {
        names.rewriteManifest(version);
    }

    /** Notes, over a restart as well, where a dataset can be loaded from. */
    public void writeRegistration(Registration registration) {
        names.writeRegistration(registration);
    }

    /** Forgets where a dataset can be loaded from. */
    public void removeRegistration(String dataset) {
        names.removeRegistration(dataset);
    }

    /** Notes, over a restart as well, that a version is wanted, or no longer; NOT_FOUND where it has just left. */
    public void pin(PublishedVersion version, boolean pinned) {
        names.pin(version, pinned);
    }

    /** Tells whether a version is wanted. */
    public boolean isPinned(PublishedVersion version) {
        return VersionNames.isPinned(version);
    }

    /** Returns which files of a version are not where they were put in the store, whatever is in the others. */
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

    /** Makes the link of a dataset name this version, in one step, where it does not. */
    public void pointCurrentTo(PublishedVersion version) throws IOException {
        names.pointCurrentTo(version);
    }

    /**
     * Makes the link of a dataset anew where somebody has removed it.
     *
     * @param isStillCurrent asked while nothing is published or removed
     * @return whether it was lost
     */
    public boolean restoreCurrent(PublishedVersion version, BooleanSupplier isStillCurrent) {
        try {
            return names.restoreCurrent(version, isStillCurrent);
        } catch (IOException e) {
            throw Space.failed("cannot recreate the link to a version", layout.current(version.dataset()), e);
        }
    }

    /**
     * Unlinks a version that nobody leases, and the link that names it. One whose files somebody else has removed already goes as
     * well.
     *
     * @param onOutOfSight told when nobody finds it any more, and its memory is about to be freed, which takes time
     * @return false, with nothing done, where somebody leases it, or has pinned it and it is not retired
     */
    public boolean removeUnleased(PublishedVersion version, RemovalReason reason, Runnable onOutOfSight) {
        return leases.runUnleased(version.folder(), isLocked -> {
            try {
                Path gone = newPlace("gone");
                if (!names.takeOutOfSight(version, reason, isLocked, gone)) {
                    return false;
                }
                onOutOfSight.run();
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

    /** Returns where {@link #setAside} puts what is left of a version. */
    public static Path asideOf(PublishedVersion version) {
        return Adoption.asideOf(version.folder());
    }

    /** Moves what is left of a version to where nobody takes it for one; readers go on. Nothing where all of it is gone. */
    public void setAside(PublishedVersion version) {
        try {
            names.setAside(version);
        } catch (IOException e) {
            throw Space.failed("cannot set a version aside", version.folder(), e);
        }
    }

    /**
     * Lets clients find a version that was held back until its checksums had been compared; returns it in its place. Empty, with nothing
     * done, where a newer one is current.
     */
    public Optional<PublishedVersion> reveal(PublishedVersion unverified) {
        try {
            return names.reveal(unverified);
        } catch (IOException e) {
            throw Space.failed("cannot put a verified version in place", unverified.folder(), e);
        }
    }

    /** Removes the link that names a version as the newest, where it does. */
    public void unlinkCurrent(PublishedVersion version) {
        try {
            names.unlinkCurrent(version);
        } catch (IOException e) {
            throw Space.failed("cannot hide a version", version.folder(), e);
        }
    }

    /** Returns what tells who leases versions. */
    public LeaseProbe leases() {
        return leases;
    }

    /**
     * Finds every published version that is whole, oldest first within a dataset, and what else is known to load from.
     *
     * @param verifies whether to compare every byte with its checksum; asked again while that is going on
     * @param onDamaged told of each that is not, with the reason; it is removed where it can be loaded again, else set aside
     */
    public Adopted adopt(BooleanSupplier verifies, BiConsumer<Path, RuntimeException> onDamaged) throws IOException {
        Adopted adopted = new Adoption(posix, layout, names, lock.contents(), verifies, onDamaged).adopt();
        lock.markAdopted();
        return adopted;
    }

    /**
     * What an earlier daemon left.
     *
     * @param versions those of datasets that are resident, oldest first
     * @param unverified those that nobody can open before their checksums have been compared; see {@link #reveal}
     * @param retired those that a newer one had replaced which is gone
     * @param registrations what is not resident but can be loaded
     * @param lastVersions the highest number that anything of a dataset has had
     */
    public record Adopted(
            List<PublishedVersion> versions,
            List<PublishedVersion> unverified,
            List<PublishedVersion> retired,
            List<Registration> registrations,
            Map<String, Long> lastVersions) {}

    /**
     * Unlinks everything, leaving nothing but what readers still hold, and gives the store up.
     *
     * @param versions those that may be leased
     */
    public CleanUp removeAll(List<PublishedVersion> versions) throws IOException {
        giveUp();
        return new StoreRemoval(posix, layout, lock, leases, rings, regions).run(versions);
    }

    /** Gives the store up after a start that failed: removes it where it holds nothing, else leaves it for the next try. */
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

    /** Gives the store up and leaves it, in order, for the next start. Idempotent. */
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
