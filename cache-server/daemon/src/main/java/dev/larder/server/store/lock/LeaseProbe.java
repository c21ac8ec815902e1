package dev.larder.server.store.lock;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Finds out which processes lease a version. Versions are named by their folders. Tests the locks themselves and keeps no list.
 * Thread-safe.
 */
public final class LeaseProbe {
    private final Posix posix;

    /** The state of a version's lease. */
    public enum State {
        /** A process leases the version. */
        HELD,
        /** No process leases the version. */
        FREE,
        /** The lease file is gone. */
        GONE
    }

    public LeaseProbe(Posix posix) {
        this.posix = posix;
    }

    /** A change to a version that no process leases. */
    @FunctionalInterface
    public interface Change {
        /**
         * Returns whether the change was made.
         *
         * @param isLocked true if the lease is locked exclusively; false if there was no lease file to lock
         */
        boolean apply(boolean isLocked);
    }

    /**
     * Applies {@code change} while no process can lease the version. A client that tries meanwhile is refused and resolves the name again.
     * Returns false if a process holds a lease, or if the change returns false. A version without a lease file counts as not leased.
     */
    public boolean runUnleased(Path version, Change change) {
        return withLease(
                version,
                () -> change.apply(false),
                // If the file was unlinked before it was locked, the lock does not protect the file that has the name
                // now.
                descriptor -> tryLockExclusive(descriptor)
                        && change.apply(posix.status(descriptor).isLinked()));
    }

    /** Returns whether a process holds a lease, even one that this pid namespace does not show. */
    public boolean isLeased(Path version) {
        return state(version) == State.HELD;
    }

    /** Returns whether a version is leased, free or gone. */
    public State state(Path version) {
        return withLease(version, () -> State.GONE, descriptor -> {
            synchronized (this) { // two probes at the same time would take each other for a reader
                if (posix.tryLockExclusive(descriptor)) {
                    posix.unlock(descriptor);
                    return State.FREE;
                }
                return State.HELD;
            }
        });
    }

    private synchronized boolean tryLockExclusive(int descriptor) {
        return posix.tryLockExclusive(descriptor);
    }

    /** Synchronized, or the exclusive lock of a probe would look like an eviction. */
    private synchronized boolean tryLockShared(int descriptor) {
        return posix.tryLockShared(descriptor);
    }

    /**
     * Runs {@code use} while this process leases the version as a client does. Returns false and does nothing if the version is being
     * removed or gone.
     */
    public boolean runLeased(Path version, Runnable use) {
        return withLease(version, () -> false, descriptor -> {
            if (!tryLockShared(descriptor) || !posix.status(descriptor).isLinked()) {
                return false;
            }
            use.run();
            return true;
        });
    }

    /** Returns the processes that hold a lease, as far as this pid namespace shows them, in ascending order. */
    public List<Long> holders(Path version) {
        return withLease(version, List::of, descriptor -> LockTable.read().readers(posix.status(descriptor)));
    }

    /**
     * Returns the leased ones of these versions by folder, each with the processes that hold it, as far as this pid namespace shows them.
     */
    public Map<Path, List<Long>> holdersOf(List<PublishedVersion> versions) {
        return holders(
                versions.stream().map(PublishedVersion::folder).distinct().toList());
    }

    /**
     * Returns the holders of many versions with at most one read of the kernel's table: a read takes about 10 ms and stops every process
     * that locks or unlocks a file.
     */
    Map<Path, List<Long>> holders(List<Path> versions) {
        List<Path> leased = versions.stream().filter(this::isLeased).toList();
        LockTable locks = leased.isEmpty() ? LockTable.empty() : LockTable.read();
        return leased.stream()
                .collect(Collectors.toMap(
                        version -> version,
                        version ->
                                withLease(version, List::of, descriptor -> locks.readers(posix.status(descriptor)))));
    }

    private <T> T withLease(Path version, Supplier<T> ifGone, IntFunction<T> use) {
        int descriptor;
        try {
            descriptor = posix.openForReading(version.resolve(StoreLayout.LEASE));
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return ifGone.get();
            }
            throw e;
        }
        try {
            return use.apply(descriptor);
        } finally {
            posix.close(descriptor);
        }
    }
}
