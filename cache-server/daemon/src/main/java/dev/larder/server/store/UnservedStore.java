package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.layout.StoreOwner;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.lock.LeaseTable;
import dev.larder.server.store.lock.LeaseTable.HeldVersion;
import dev.larder.server.store.lock.LockRecord;
import dev.larder.server.store.space.Occupied;
import dev.larder.server.store.space.Space;
import dev.larder.server.store.version.Manifest;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The contents of a store that no daemon serves, read once from its files. Locks and changes nothing, and compares no checksum of data. A version
 * is current if clients open it now.
 */
public final class UnservedStore {
    private final Posix posix = Posix.system();
    private final StoreLayout layout;
    private final int owner;
    private final VersionReader reader;
    private final List<PublishedVersion> current = new ArrayList<>();
    private final List<PublishedVersion> unverified = new ArrayList<>();
    private final List<PublishedVersion> retired = new ArrayList<>();
    private final List<Registration> registrations = new ArrayList<>();
    private final List<LarderException> unreadable = new ArrayList<>();
    private final Map<String, LarderException> unreadableDatasets = new HashMap<>();
    private List<HeldVersion> held = List.of();

    private UnservedStore(StoreLayout layout) {
        this.layout = layout;
        this.owner = StoreOwner.of(layout.root()).uid();
        this.reader = new VersionReader(posix, layout, owner);
    }

    /**
     * Reads a store.
     *
     * @throws LarderException NO_DAEMON if there is no store, REFUSED if its owner is not trusted
     */
    public static UnservedStore read(Path folder) {
        StoreLayout layout = new StoreLayout(folder);
        StoreLocation.requireStore(layout);
        UnservedStore store = new UnservedStore(layout);
        try {
            for (Path dataset : OrphanedStore.folders(layout.data())) {
                store.readDataset(dataset);
            }
        } catch (IOException e) {
            StoreLocation.requireStore(layout); // its daemon may just have removed it
            throw Space.failed("cannot read the store", folder, e);
        }
        store.readHolders();
        return store;
    }

    private void readDataset(Path dataset) {
        long newest = newest(dataset);
        boolean isResident = false;
        try {
            for (Path folder : OrphanedStore.folders(dataset)) {
                Optional<PublishedVersion> version = tryRead(dataset, folder);
                if (version.isPresent()) {
                    boolean isHeldBack = fileName(folder).endsWith(VersionReader.UNVERIFIED);
                    boolean isNewest = version.get().version() == newest;
                    (isHeldBack ? unverified : isNewest ? current : retired).add(version.get());
                    isResident |= isHeldBack || isNewest;
                }
            }
        } catch (IOException | UncheckedIOException e) {
            addUnlessGone(
                    dataset,
                    Failure.of(ErrorCode.REFUSED, "cannot read a dataset")
                            .with("folder", dataset)
                            .with("reason", e)
                            .cause(e)
                            .exception());
        }
        if (!isResident) {
            readRegistration(dataset);
        }
    }

    /** Returns the number that the link to the newest version has; 0 if there is none. */
    private static long newest(Path dataset) {
        try {
            return Long.parseLong(
                    Files.readSymbolicLink(dataset.resolve(StoreLayout.CURRENT)).toString());
        } catch (IOException | NumberFormatException none) {
            return 0;
        }
    }

    private Optional<PublishedVersion> tryRead(Path dataset, Path folder) {
        if (VersionReader.number(folder) == 0) {
            return Optional.empty();
        } else if (fileName(folder).endsWith(VersionReader.DAMAGED)) {
            add(
                    folder,
                    Failure.of(ErrorCode.CHECKSUM, "damaged data was set aside")
                            .with("folder", folder)
                            .remedy("copy the undamaged .npy files from there, or compute the data again"));
            return Optional.empty();
        }
        try {
            return Optional.of(reader.read(fileName(dataset), folder));
        } catch (LarderException e) {
            addUnlessGone(folder, e);
        } catch (IOException e) {
            addUnlessGone(folder, VersionReader.damaged(folder, Failure.words(e), e));
        }
        return Optional.empty();
    }

    private void addUnlessGone(Path path, LarderException reason) {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            add(path, reason);
        }
    }

    private void add(Path path, LarderException reason) {
        unreadable.add(reason);
        unreadableDatasets.putIfAbsent(fileName(layout.data().relativize(path).getName(0)), reason);
    }

    private void readRegistration(Path dataset) {
        Path file = dataset.resolve(StoreLayout.REGISTERED);
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            try {
                registrations.add(Manifest.readRegistration(file, fileName(dataset), owner));
            } catch (LarderException e) {
                addUnlessGone(file, e);
            }
        }
    }

    private static String fileName(Path path) {
        return String.valueOf(path.getFileName());
    }

    private void readHolders() {
        try {
            held = LeaseTable.of(layout).held();
        } catch (LarderException e) {
            unreadable.add(e); // the versions are readable all the same
        }
    }

    /** Returns the layout of the store. */
    public StoreLayout layout() {
        return layout;
    }

    /** Returns the versions that clients open, sorted by dataset. */
    public List<PublishedVersion> current() {
        return Collections.unmodifiableList(current);
    }

    /** Returns the versions that clients cannot open before a daemon has compared their checksums. */
    public List<PublishedVersion> unverified() {
        return Collections.unmodifiableList(unverified);
    }

    /** Returns the versions that are not removed yet. */
    public List<PublishedVersion> retired() {
        return Collections.unmodifiableList(retired);
    }

    /** Returns the datasets that are not in memory, but have a source. */
    public List<Registration> registrations() {
        return Collections.unmodifiableList(registrations);
    }

    /** Returns why versions or registrations cannot be read. */
    public List<LarderException> unreadable() {
        return Collections.unmodifiableList(unreadable);
    }

    /** Returns why a dataset has a version or a registration that cannot be read; null if it has none. */
    public @Nullable LarderException unreadable(String dataset) {
        return unreadableDatasets.get(dataset);
    }

    /** Returns the leased versions, as far as this user and pid namespace can see who leases them. */
    public List<HeldVersion> held() {
        return held;
    }

    /** Returns the processes that lease versions, by folder. */
    public Map<Path, List<Long>> holders() {
        return held.stream()
                .collect(Collectors.toMap(
                        version -> layout.version(version.dataset(), version.version()), HeldVersion::pids));
    }

    /** Adds up the space of the versions that pass a test, in bytes. */
    public long storedBytes(Predicate<PublishedVersion> isCounted) {
        return Stream.of(current, unverified, retired)
                .flatMap(List::stream)
                .filter(isCounted)
                .mapToLong(PublishedVersion::storedBytes)
                .sum();
    }

    /** Returns the space of rings and regions, in bytes. */
    public long sharedBytes() {
        return Occupied.bytes(layout.rings()) + Occupied.bytes(layout.regions());
    }

    /** Returns the space of loads that did not end, in bytes. */
    public long unfinishedBytes() {
        return Occupied.bytes(layout.incoming());
    }

    /** Returns the record of the last daemon; empty if this user cannot read it. */
    public Optional<LockRecord> lastDaemon() {
        try {
            int lock = posix.openForReading(layout.lock());
            try {
                FileStatus file = posix.status(lock);
                boolean isOwned = file.isRegular() && file.uid() == owner;
                return Optional.of(LockRecord.read(lock)).filter(record -> isOwned && record.pid() >= 0);
            } finally {
                posix.close(lock);
            }
        } catch (LarderException absentOrClosed) {
            return Optional.empty();
        }
    }

    /** Returns the pid of a daemon that holds the lock of the store, but accepts no clients: it starts or ends. */
    public OptionalLong daemonPid() {
        return LeaseTable.of(layout).daemonPid();
    }
}
