package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The right to read a version: a shared lock on its {@code lease} file. It ends with the last copy of its descriptor, however
 * the process dies.
 *
 * <p>A process has one descriptor for each version it leases, whatever the number of datasets that share it. Thread-safe.
 */
final class Lease {
    private static final Map<Path, Lease> HELD = new HashMap<>();

    private final Posix posix;
    private final Path version;
    private final int descriptor;
    private int users = 1;

    private Lease(Posix posix, Path version, int descriptor) {
        this.posix = posix;
        this.version = version;
        this.descriptor = descriptor;
    }

    /**
     * Leases a version; null where it is being retired, or is gone, so that the caller resolves the name again. Each success is
     * paired with one {@link #release}.
     */
    static @Nullable Lease tryTake(Posix posix, Path version) {
        synchronized (HELD) {
            Lease held = HELD.get(version);
            // Another store may lie at the same place by now: only a file that is still linked is this version.
            if (held != null && posix.status(held.descriptor).isLinked()) {
                held.users++;
                return held;
            }
            Lease taken = tryLock(posix, version);
            if (taken != null) {
                HELD.put(version, taken);
            }
            return taken;
        }
    }

    private static @Nullable Lease tryLock(Posix posix, Path version) {
        int descriptor;
        try {
            descriptor = posix.openForReading(version.resolve(StoreLayout.LEASE));
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return null;
            }
            throw e;
        }
        boolean leased = false;
        try {
            FileStatus found = posix.status(descriptor);
            if (!found.isRegular()) {
                throw Failure.of(ErrorCode.REFUSED, "the lease is not a regular file")
                        .with("version", version)
                        .remedy(Remedy.reload(version) + "; check who can write to the store");
            }
            leased = posix.tryLockShared(descriptor) && posix.status(descriptor).isLinked();
        } finally {
            if (!leased) {
                posix.close(descriptor);
            }
        }
        return leased ? new Lease(posix, version, descriptor) : null;
    }

    /** Refuses where the version's files are gone although they are leased, as they are when a daemon stops. */
    void requireInStore() {
        if (!posix.status(descriptor).isLinked()) {
            throw Failure.of(ErrorCode.NO_DAEMON, "the store was removed while its dataset was leased")
                    .with("version", version)
                    .remedy(Remedy.START_DAEMON
                            + ", and load and open the dataset again; arrays that are mapped stay readable");
        }
    }

    /** Returns the remedy for damaged files of the version. */
    String reload() {
        return Remedy.reload(version);
    }

    /** Lets programs that this process becomes hold the lease. */
    void keepAcrossExec() {
        posix.keepAcrossExec(descriptor);
    }

    /** Gives one user's share back; the last one ends the lease. */
    void release() {
        synchronized (HELD) {
            if (--users == 0) {
                HELD.remove(version, this);
                posix.close(descriptor);
            }
        }
    }
}
