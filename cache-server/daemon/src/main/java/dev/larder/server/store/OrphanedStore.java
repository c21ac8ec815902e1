package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.StoreReport.State;
import dev.larder.server.store.lock.LeaseProbe;
import dev.larder.server.store.lock.LockRecord;
import dev.larder.server.store.lock.StoreLock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A folder, held open by a descriptor, that may be a store without a daemon. The caller closes the descriptor. */
final class OrphanedStore {
    private static final int ATTEMPTS = 10;
    private static final int MOST_NAMED = 10;
    private static final long PAUSE_NS = 20_000_000;

    private final Posix posix;
    private final Path store;
    private final int owner;
    private final StoreLayout layout;
    private final LeaseProbe leases;

    OrphanedStore(Posix posix, Path store, int descriptor, int owner) {
        this.posix = posix;
        this.store = store;
        this.owner = owner;
        // Leads to the opened folder even if it is moved or another is put in its place.
        this.layout = new StoreLayout(Path.of("/proc/self/fd/" + descriptor));
        this.leases = new LeaseProbe(posix);
    }

    /** Returns its state. Holds a shared lock for a moment; a daemon that starts meanwhile tries again. */
    StoreReport look() throws IOException {
        StoreReport found = withLock(lock -> posix.tryLockShared(lock), (lock, record) -> left(record));
        return measuredIfLeft(classified(found));
    }

    /** Unlinks the store's own files, unless a daemon owns it. */
    StoreReport remove(boolean evenIfKept) throws IOException {
        return measuredIfLeft(withLock(this::lockForRemoval, (lock, record) -> {
            StoreReport found = classified(left(record));
            return found.state() == State.DEAD || evenIfKept ? remove(found, lock) : found;
        }));
    }

    /** An action while the lock is held. */
    @FunctionalInterface
    private interface Work {
        StoreReport with(int lock, LockRecord record) throws IOException;
    }

    /** A way to take the lock. */
    @FunctionalInterface
    private interface Attempt {
        boolean tryLock(int lock);
    }

    private StoreReport withLock(Attempt attempt, Work work) throws IOException {
        int lock;
        try {
            lock = posix.openForReading(layout.lock());
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return noStore("it has no daemon.lock");
            }
            throw e;
        }
        try {
            FileStatus file = posix.status(lock);
            if (!file.isRegular() || file.uid() != owner) {
                return noStore("its daemon.lock is not a regular file of the store's owner");
            }
            if (!attempt.tryLock(lock)) {
                return StoreReport.leftAlone(
                        store,
                        State.LIVE,
                        "it is in use: pid=" + LockRecord.read(lock).pid());
            }
            if (!posix.status(lock).isLinked()) {
                throw new NoSuchFileException(store.toString()); // its daemon has just removed it
            }
            LockRecord record = LockRecord.read(lock);
            return record.pid() < 0 && file.byteSize() > 0
                    ? noStore("its daemon.lock has no valid record")
                    : work.with(lock, record);
        } finally {
            posix.close(lock);
        }
    }

    private StoreReport noStore(String why) {
        return StoreReport.leftAlone(store, State.NO_STORE, why);
    }

    /** Takes the exclusive lock, and tries again while other processes only check the store. */
    private boolean lockForRemoval(int lock) {
        for (int attempt = 1; !posix.tryLockExclusive(lock); attempt++) {
            if (attempt == ATTEMPTS) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
        return true;
    }

    private StoreReport left(LockRecord record) {
        return record.isClean()
                ? StoreReport.leftAlone(
                        store,
                        State.KEPT,
                        "its daemon ended and kept it; larder serve --store " + store
                                + " takes it over, larder gc --kept --store " + store + " removes it")
                : StoreReport.leftAlone(store, State.DEAD, "its daemon died: pid=" + record.pid());
    }

    /** Leaves a dead store for a new daemon if it holds data without a source, because removal would lose the data. */
    private StoreReport classified(StoreReport found) throws IOException {
        if (found.state() != State.DEAD) {
            return found;
        }
        List<String> computed = versions().stream()
                .filter(version -> SourcelessVersion.is(posix, version))
                .map(version -> String.valueOf(
                        Objects.requireNonNull(version.getParent()).getFileName()))
                .distinct()
                .toList();
        return computed.isEmpty()
                ? found
                : StoreReport.leftAlone(
                        store,
                        State.COMPUTED,
                        found.detail() + "; its computed data has no source: datasets="
                                + computed.subList(0, Math.min(MOST_NAMED, computed.size())) + "; larder serve --store "
                                + store + " takes it over, larder gc --kept --store " + store + " removes it");
    }

    /** Measures without the lock, because measuring takes time and a daemon may need the lock to start. */
    private StoreReport measuredIfLeft(StoreReport found) throws IOException {
        return EnumSet.of(State.KEPT, State.DEAD, State.COMPUTED).contains(found.state()) ? measured(found) : found;
    }

    private StoreReport measured(StoreReport found) throws IOException {
        List<String> leased = new ArrayList<>();
        TreeSet<Long> holders = new TreeSet<>();
        long held = 0;
        for (Path version : versions()) {
            if (leases.isLeased(version)) {
                leased.add(layout.data().relativize(version).toString());
                holders.addAll(leases.holders(version));
                held += sizes(version).bytes();
            }
        }
        for (Path ring : Rings.entries(layout)) {
            held += Rings.isAlive(posix, ring) ? sizes(ring).bytes() : 0;
        }
        held += RegionFiles.heldBytes(posix, layout);
        Sizes all = sizes(layout.lock());
        for (Path part : layout.parts()) {
            all = all.plus(sizes(part));
        }
        return new StoreReport(
                store, found.state(), found.detail(), all.files(), all.bytes(), held, leased, new ArrayList<>(holders));
    }

    private List<Path> versions() throws IOException {
        List<Path> versions = new ArrayList<>();
        for (Path dataset : folders(layout.data())) {
            versions.addAll(folders(dataset));
        }
        return versions;
    }

    /** Returns the folders in a folder, sorted; none if it is absent. */
    static List<Path> folders(Path parent) throws IOException {
        if (!Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(parent)) {
            return entries.filter(entry -> Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS))
                    .sorted()
                    .toList();
        }
    }

    /** The files below a path. */
    private record Sizes(long files, long bytes) {
        Sizes plus(Sizes other) {
            return new Sizes(files + other.files, bytes + other.bytes);
        }
    }

    private Sizes sizes(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return new Sizes(0, 0);
        }
        try (Stream<Path> below = Files.walk(path)) {
            return below.filter(file -> !Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS))
                    .map(file -> new Sizes(1, length(file)))
                    .reduce(new Sizes(0, 0), Sizes::plus);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private long length(Path file) {
        if (file.startsWith(layout.rings())) {
            return Rings.storedFileBytes(posix, file);
        }
        try {
            return (long) Files.getAttribute(file, "size", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException gone) {
            return 0;
        }
    }

    /**
     * Removes the store while holding its lock. The contents of the lock file make a daemon that starts meanwhile wait; it is unlinked
     * last. They are written to the locked file itself, and everything is reached from the opened folder: the owner of the store may have
     * replaced paths by links.
     */
    private StoreReport remove(StoreReport dead, int lock) throws IOException {
        StandardOpenOption[] overwrite = {StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING};
        Files.write(Path.of("/proc/self/fd/" + lock), StoreLock.removalRecord(), overwrite);
        StoreReport found = measured(dead);
        Removal removal = new Removal();
        removal.removeAll(layout.parts());
        removal.remove(layout.lock());
        Publication.deleteIfEmpty(store);
        boolean left = Files.exists(store, LinkOption.NOFOLLOW_LINKS);
        return found.as(State.REMOVED, left ? "the folder is kept: it has other files" : "");
    }
}
