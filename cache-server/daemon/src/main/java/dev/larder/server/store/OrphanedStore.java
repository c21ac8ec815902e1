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

/** A folder, held by a descriptor, that may be a store which nobody serves any more. The caller closes the descriptor. */
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
        // Leads to the folder that was opened, wherever it is moved and whatever is put into its place.
        this.layout = new StoreLayout(Path.of("/proc/self/fd/" + descriptor));
        this.leases = new LeaseProbe(posix);
    }

    /** Tells what it is. Holds the lock for a moment, shared: a daemon that starts just then tries again. */
    StoreReport look() throws IOException {
        StoreReport found = withLock(lock -> posix.tryLockShared(lock), (lock, record) -> left(record));
        return measuredIfLeft(distinguished(found));
    }

    /** Unlinks the store's own files, unless somebody lives there. */
    StoreReport remove(boolean evenIfKept) throws IOException {
        return measuredIfLeft(withLock(this::lockForRemoval, (lock, record) -> {
            StoreReport found = distinguished(left(record));
            return found.state() == State.DEAD || evenIfKept ? remove(found, lock) : found;
        }));
    }

    /** What is done while the lock is held. */
    @FunctionalInterface
    private interface Work {
        StoreReport with(int lock, LockRecord record) throws IOException;
    }

    /** How the lock is taken. */
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
                return noStore("its daemon.lock is not its owner's file");
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

    /** Takes the lock for good, also where others are looking at the store just now. */
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
                ? StoreReport.leftAlone(store, State.KEPT, "it was kept on purpose")
                : StoreReport.leftAlone(store, State.DEAD, "its daemon died: pid=" + record.pid());
    }

    /** A dead store that holds data without a source is left for a daemon to take over: to remove it would lose the data. */
    private StoreReport distinguished(StoreReport found) throws IOException {
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
                                + store + " takes it over, larder gc --kept removes it");
    }

    /** Looking at every file takes time: no lock is held that a daemon may need to start. */
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

    private static List<Path> folders(Path parent) throws IOException {
        if (!Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(parent)) {
            return entries.filter(entry -> Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS))
                    .sorted()
                    .toList();
        }
    }

    /** Counts of what lies below a path. */
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
     * A daemon that starts meanwhile reads in the lock file that it should wait, and finds the file gone in the end. That is written
     * into the very file that is locked, and whatever is removed is reached from the folder that was opened: whoever owns the store
     * may have put links in their place.
     */
    private StoreReport remove(StoreReport dead, int lock) throws IOException {
        StandardOpenOption[] anew = {StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING};
        Files.write(Path.of("/proc/self/fd/" + lock), StoreLock.removalRecord(), anew);
        StoreReport found = measured(dead);
        Removal removal = new Removal();
        removal.removeAll(layout.parts());
        removal.remove(layout.lock());
        Publication.deleteIfEmpty(store);
        boolean left = Files.exists(store, LinkOption.NOFOLLOW_LINKS);
        return found.as(State.REMOVED, left ? "the folder is kept: it has other files" : "");
    }
}
