package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The right to read a version: a shared lock on its {@code lease} file. A process has one lease for each version, however many datasets
 * share it. Thread-safe.
 */
final class Lease {
    /*
     * How a version is published, leased and removed.
     *
     * A version is a folder that never changes. It is in one of these states:
     *
     *   incoming   in <store>/incoming. One builder writes it, and clients never read there.
     *   published  in <store>/data/<dataset>/<number>, and the link current names it.
     *   replaced   the same folder, but current names a newer number. Its readers keep it.
     *   removed    its files have no names. Pages that are mapped live until the last process unmaps them.
     *
     * Only the daemon moves folders, changes current and takes the exclusive lock of a lease file. A client writes nothing here except
     * into the incoming folder of its own build.
     *
     * Publish: the daemon writes index, manifest and an empty lease file into the incoming folder. It renames the folder into place,
     * then a new link over current. Until that last rename no client finds the version.
     *
     *   death before the first rename     the next daemon removes the incoming folder; the old version stays current
     *   death between the two renames     current still names the old version; the next daemon repairs the link
     *   several datasets in one publish   a note of all renames is written first, and the next daemon completes them
     *
     * Lease: read the number from current, open its lease file, take a shared lock without waiting, then check that the file still has a
     * name. If any step fails, the version is being removed or replaced, and the client starts again at current. The check must follow
     * the lock: the daemon may have removed the file between open and lock, and the lock of a nameless file protects nothing.
     *
     * Remove: the daemon takes the exclusive lock without waiting, which fails while any reader has a lease. Under the lock it renames the
     * folder out of sight, then deletes it. A client that opened the file earlier either is refused the lock or sees a file without name.
     *
     *   death of a reader   the kernel closes its descriptor, which ends the lease; there is no list of readers to repair
     *   death of the daemon under the exclusive lock   the lock ends; what it had renamed is removed by the next daemon
     *   end of the daemon's store   its files are removed even if they are leased, so requireInStore reports that; mapped pages stay
     *
     * flock belongs to the open file, not to the process: a fork shares the lease, and closing any other descriptor does not end it.
     */

    private static final Map<Path, Lease> HELD = new HashMap<>();

    private final Posix posix;
    private final Path version;
    private final int descriptor;
    private int users = 1;

    /** True once a newer version was seen, even if that is evicted later. */
    private volatile boolean isReplaced;

    private Lease(Posix posix, Path version, int descriptor) {
        this.posix = posix;
        this.version = version;
        this.descriptor = descriptor;
    }

    /**
     * Leases a version. Returns null if it is being removed or is gone; the caller then resolves the name again. Each success needs one
     * {@link #release}.
     */
    static @Nullable Lease tryTake(Posix posix, Path version) {
        synchronized (HELD) {
            Lease held = HELD.get(version);
            // If the file has lost its name, a new store may have created another version at this path.
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

    /** Returns whether no version has replaced this one, as far as calls of this method have seen. */
    boolean isNewest() {
        try {
            Path current = Files.readSymbolicLink(version.resolveSibling(StoreLayout.CURRENT));
            if (!current.equals(version.getFileName())
                    || !posix.status(descriptor).isLinked()) {
                isReplaced = true;
            }
            return !isReplaced;
        } catch (IOException e) { // nothing is published
            return !isReplaced;
        }
    }

    /** Fails if the version's files were removed although they are leased, as happens when a daemon stops. */
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

    /** Lets a program that replaces this process through {@code exec} inherit the lease. */
    void keepAcrossExec() {
        posix.keepAcrossExec(descriptor);
    }

    /** Ends one use of the lease. The last one releases the lock. */
    void release() {
        synchronized (HELD) {
            if (--users == 0) {
                HELD.remove(version, this);
                posix.close(descriptor);
            }
        }
    }
}
