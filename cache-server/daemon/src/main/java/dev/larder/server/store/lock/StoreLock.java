package dev.larder.server.store.lock;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.StoreOwner;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.space.Mount;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exclusive {@code flock} that makes this process the owner of a store, from {@link #take} to {@link #close} or the end of the process.
 * The kernel releases it however the process ends.
 */
public final class StoreLock implements AutoCloseable {
    /*
     * The lock of a store
     *
     * The flock on daemon.lock is the only sign of a live owner. The kernel releases it when the process ends, so no process has to
     * guess from pids or ages of files. The file is held
     *
     *   exclusively   by the daemon, from take() to close(), and by larder gc while it removes a dead store
     *   shared        for a moment, by a process that checks whether a daemon owns the store
     *
     * so take() waits a little before it refuses, and longer while the record contains "removing".
     *
     * An owner that removes the store unlinks the file while it holds the lock. A process that had opened the file then gets a
     * lock that excludes no other process. So each process locks first, then checks that the file still has a name, and starts
     * again if it has none.
     *
     * Only the owner writes the record, through the locked descriptor. It informs people, and the next start:
     *
     *   running    clean=false, contents=... as found at the start, and "intact" after all versions have been adopted
     *   left       clean=true: written last, after the store has been synced
     *   removing   contents=untrusted: written first, because an interrupted removal leaves any part of the store
     *
     * All records of owners have the same length, and each is overwritten by one call. If the owner dies before a write, the old
     * record is still true: until the versions have been adopted, the new record repeats how far the old one trusted them.
     *
     * If another program deletes the file, this process still holds a lock, but other processes cannot see it. isInPlace() detects
     * this, and Store.restoreIfRemoved() takes the lock of a new file, unless another daemon was faster.
     *
     * The owner also holds a shared flock on the folder of the store, which means something only to systemd-tmpfiles: it removes old files
     * from /var/tmp, and leaves a folder that is locked, with everything in it.
     */
    private static final Logger LOG = LoggerFactory.getLogger(StoreLock.class);
    private static final int OWNER_ONLY = 0600;
    private static final int NONE = -1;
    private static final int RECORD_BYTES = 512;
    private static final int RECORD_ATTEMPTS = 40;
    private static final long RECORD_PAUSE_NS = 5_000_000;

    /**
     * A process that only checks whether a store is in use holds the lock for a moment; one that removes a dead store, until it is done.
     */
    private static final long LOOK_NS = 250_000_000;

    private static final long REMOVAL_NS = 30_000_000_000L;
    private static final String REMOVAL = "removing=true";

    private final Posix posix;
    private final Path file;
    private final int descriptor;
    private final int folder;
    private final LockRecord found;
    private final boolean isVolatile;
    private final Instant start = Instant.now();
    private boolean held = true;

    private StoreLock(Posix posix, Path file, int descriptor, int folder) {
        this.posix = posix;
        this.file = file;
        this.descriptor = descriptor;
        this.folder = folder;
        this.found = LockRecord.read(descriptor);
        this.isVolatile = Mount.of(file).filter(Mount::isVolatile).isPresent();
    }

    /** Takes the lock, or fails with the process that holds it. */
    public static StoreLock take(Posix posix, StoreLayout layout) {
        Path file = layout.lock();
        long begin = System.nanoTime();
        while (true) {
            int descriptor = posix.openOrCreate(file, OWNER_ONLY);
            int folder = NONE;
            boolean taken = false;
            try {
                requireOwnFile(posix.status(descriptor), file);
                folder = posix.openForReading(layout.root());
                if (!posix.tryLockExclusive(descriptor)) {
                    if (System.nanoTime() - begin > (isBeingRemoved(descriptor) ? REMOVAL_NS : LOOK_NS)) {
                        throw held(layout, descriptor);
                    }
                    LockSupport.parkNanos(RECORD_PAUSE_NS);
                    continue;
                }
                // A daemon that stops unlinks the file while it holds the lock, so the file that we opened may be gone.
                if (posix.status(descriptor).isLinked()) {
                    lockFolder(posix, folder, layout);
                    StoreLock lock = new StoreLock(posix, file, descriptor, folder);
                    lock.write(lock.record(lock.contents()));
                    taken = true;
                    return lock;
                }
            } finally {
                if (!taken) {
                    close(posix, descriptor, folder);
                }
            }
        }
    }

    /**
     * Locks the folder against programs that clean up. Waits for one that is at work there; not in a store of a group, because each member
     * could lock the folder and keep the daemon from its store.
     */
    private static void lockFolder(Posix posix, int folder, StoreLayout layout) {
        long begin = System.nanoTime();
        while (!posix.tryLockShared(folder)) {
            if (StoreOwner.of(layout.root()).isShared()) {
                LOG.warn(
                        "another program has locked the folder of the store: store={}; if it removes old files, exclude this folder",
                        layout.root());
                return;
            }
            if (System.nanoTime() - begin > REMOVAL_NS) {
                throw Failure.of(ErrorCode.REFUSED, "another program has locked the folder of the store")
                        .with("store", layout.root())
                        .remedy("find it with lsof " + layout.root() + ", and wait for its end");
            }
            LockSupport.parkNanos(RECORD_PAUSE_NS);
        }
    }

    private static void close(Posix posix, int descriptor, int folder) {
        if (folder != NONE) {
            posix.close(folder);
        }
        posix.close(descriptor);
    }

    /**
     * Returns the contents of the lock file while a store without a daemon is removed: if the removal is cut short, the next owner trusts
     * nothing.
     */
    public static byte[] removalRecord() {
        LockRecord untrusted = LockRecord.ofThisProcess(LockRecord.Contents.UNTRUSTED, Instant.now());
        String record = new String(untrusted.toBytes(), StandardCharsets.UTF_8);
        return (record + REMOVAL + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private static boolean isBeingRemoved(int descriptor) {
        return LockRecord.text(descriptor).contains(REMOVAL);
    }

    /** Returns whether another process owns the store with this lock file; false if this user may not open the file. */
    public static boolean isHeldByAnother(Posix posix, Path file) {
        try {
            int descriptor = posix.openForReading(file);
            try {
                return posix.status(descriptor).isRegular() && !posix.tryLockShared(descriptor);
            } finally {
                posix.close(descriptor);
            }
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND || e.code() == ErrorCode.REFUSED) {
                return false;
            }
            throw e;
        }
    }

    private static void requireOwnFile(FileStatus found, Path file) {
        if (!found.isRegular()) {
            throw Failure.of(ErrorCode.REFUSED, "the store's lock is not a file")
                    .with("lock", file)
                    .remedy("check who created it, and remove it");
        }
        if (found.uid() != Posix.system().userId()) {
            throw Failure.of(ErrorCode.REFUSED, "the store belongs to another user")
                    .with("lock", file)
                    .with("uid", Posix.system().userId())
                    .with("ownerUid", found.uid())
                    .remedy(
                            "start its daemon as that user, or by its service (systemctl start larder), or name another store with"
                                    + " --store");
        }
    }

    private static RuntimeException held(StoreLayout layout, int descriptor) {
        LockRecord owner = readWritten(descriptor);
        return Failure.of(ErrorCode.REFUSED, "another daemon owns the store")
                .with("store", layout.root())
                .with("pid", owner.pid())
                .with("started", owner.started())
                .remedy("use that daemon, stop it with larder stop, or name another store with --store");
    }

    /** Reads the record of the owner. Waits a little if it has only just taken the lock. */
    private static LockRecord readWritten(int descriptor) {
        LockRecord record = LockRecord.read(descriptor);
        for (int attempt = 0; record.pid() < 0 && attempt < RECORD_ATTEMPTS; attempt++) {
            LockSupport.parkNanos(RECORD_PAUSE_NS);
            record = LockRecord.read(descriptor);
        }
        return record;
    }

    /** Returns whether the locked file still has its name. */
    public boolean isInPlace() {
        return held
                && FileNumber.of(file)
                        .filter(FileNumber.of(posix.status(descriptor))::equals)
                        .isPresent();
    }

    /** Returns whether the owner before this one stopped in order, so that its catalog can be trusted. */
    public boolean wasLeftClean() {
        return found.isClean() && found.fitsThisBoot();
    }

    /** Returns how far the versions of the owner before this one can be trusted. */
    public LockRecord.Contents contents() {
        return found.contentsFound(isVolatile);
    }

    private LockRecord record(LockRecord.Contents contents) {
        return LockRecord.ofThisProcess(contents, start);
    }

    /** Records that every version has been checked. If a start ends before this, the next one trusts them no more than this one did. */
    public void markAdopted() {
        write(record(LockRecord.Contents.INTACT));
    }

    /** Syncs the store to its disk, then records for the next start that it was left in order; records nothing if that fails. */
    public void markClean() {
        try {
            if (!isVolatile) {
                BulkIo.system().syncFileSystem(descriptor);
            }
            write(record(LockRecord.Contents.INTACT).stoppedInOrder());
        } catch (LarderException e) {
            LOG.warn(
                    "the store may not be synced to its disk, so it is not trusted after a reboot: {}", e.getMessage());
        }
    }

    /**
     * Writes to the locked file itself, even if another file has its name now. All records have the same length, and each overwrites the
     * last in one call: a kill or a full disk leaves the old one or the new one, never an empty file.
     */
    private void write(LockRecord record) {
        BulkIo io = BulkIo.system();
        byte[] text = record.toBytes();
        ByteBuffer direct = ByteBuffer.allocateDirect(RECORD_BYTES).put(text);
        while (direct.hasRemaining()) {
            direct.put((byte) '\n');
        }
        io.write(descriptor, 0, direct, 0, RECORD_BYTES);
        io.resize(descriptor, RECORD_BYTES);
        if (!isVolatile) {
            io.sync(descriptor);
        }
    }

    @Override
    public void close() {
        if (held) {
            held = false;
            close(posix, descriptor, folder);
        }
    }
}
