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
 * Finds out whether a version is leased, and by whom; versions are named by their folders. Asks the locks themselves; keeps
 * no list of its own. Thread-safe.
 */
public final class LeaseProbe {
    private final Posix posix;

    /** What can be told of a version by its lease. */
    public enum State {
        /** Somebody reads it. */
        HELD,
        /** Nobody reads it. */
        FREE,
        /** Its lease file is gone. */
        GONE
    }

    public LeaseProbe(Posix posix) {
        this.posix = posix;
    }

    /** What is done to a version that nobody leases. */
    @FunctionalInterface
    public interface Change {
        /**
         * Returns whether it was done.
         *
         * @param isLocked whether the lease is locked; false where there was no lease file to lock
         */
        boolean apply(boolean isLocked);
    }

    /**
     * Applies {@code change} while nobody can lease the version; false where somebody holds a lease, or where it was not done. Whoever
     * asks for a lease during the change is refused, and resolves the name again. What has no lease file any more is leased by nobody.
     */
    public boolean runUnleased(Path version, Change change) {
        return withLease(
                version,
                () -> change.apply(false),
                // What was unlinked before it was locked says nothing of what has its name by now.
                descriptor -> tryLockExclusive(descriptor)
                        && change.apply(posix.status(descriptor).isLinked()));
    }

    /** Tells whether anybody holds a lease, also where this pid namespace cannot tell who. */
    public boolean isLeased(Path version) {
        return state(version) == State.HELD;
    }

    /** Tells whether a version is held, or not even there. */
    public State state(Path version) {
        return withLease(version, () -> State.GONE, descriptor -> {
            synchronized (this) { // or two of our own questions would take each other for a reader
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

    /** Or a question of our own, which locks the lease for a moment, would be taken for an eviction. */
    private synchronized boolean tryLockShared(int descriptor) {
        return posix.tryLockShared(descriptor);
    }

    /**
     * Runs {@code use} while this process leases the version itself, as clients do; false, with nothing done, where the version
     * is going or gone.
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

    /** Returns the processes that hold each of these versions, by folder. */
    public Map<Path, List<Long>> holdersOf(List<PublishedVersion> versions) {
        return holders(
                versions.stream().map(PublishedVersion::folder).distinct().toList());
    }

    /**
     * Returns the holders of many versions with at most one look at the kernel's table: to show it, the kernel stops whoever is about to
     * lock or unlock anything, and takes some 10 ms.
     */
    Map<Path, List<Long>> holders(List<Path> versions) {
        List<Path> leased = versions.stream().filter(this::isLeased).toList();
        LockTable locks = leased.isEmpty() ? LockTable.empty() : LockTable.read();
        return versions.stream()
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
