package dev.larder.server.store.lock;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.space.Mount;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exclusive {@code flock} that makes this process the owner of a store. Held from {@link #take} to {@link #close}, or to the
 * end of the process, however it comes.
 */
public final class StoreLock implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StoreLock.class);
    private static final int OWNER_ONLY = 0600;
    private static final int RECORD_BYTES = 512;
    private static final int RECORD_ATTEMPTS = 40;
    private static final long RECORD_PAUSE_NS = 5_000_000;

    /** Whoever looks whether a store is alive locks it for a moment; whoever removes a dead one, for as long as that takes. */
    private static final long LOOK_NS = 250_000_000;

    private static final long REMOVAL_NS = 30_000_000_000L;
    private static final String REMOVAL = "removing=true";

    private final Posix posix;
    private final Path file;
    private final int descriptor;
    private final LockRecord found;
    private final boolean isVolatile;
    private boolean held = true;

    private StoreLock(Posix posix, Path file, int descriptor) {
        this.posix = posix;
        this.file = file;
        this.descriptor = descriptor;
        this.found = LockRecord.read(descriptor);
        this.isVolatile = Mount.of(file).filter(Mount::isVolatile).isPresent();
    }

    /** Takes the lock, or refuses and names the process that holds it. */
    public static StoreLock take(Posix posix, StoreLayout layout) {
        Path file = layout.lock();
        long begin = System.nanoTime();
        while (true) {
            int descriptor = posix.openOrCreate(file, OWNER_ONLY);
            boolean taken = false;
            try {
                requireOwnFile(posix.status(descriptor), file);
                if (!posix.tryLockExclusive(descriptor)) {
                    if (System.nanoTime() - begin > (isBeingRemoved(descriptor) ? REMOVAL_NS : LOOK_NS)) {
                        throw held(layout, descriptor);
                    }
                    LockSupport.parkNanos(RECORD_PAUSE_NS);
                    continue;
                }
                // A daemon that stops unlinks the file while it holds the lock: what we opened may be gone by now.
                if (posix.status(descriptor).isLinked()) {
                    StoreLock lock = new StoreLock(posix, file, descriptor);
                    lock.write(LockRecord.ofThisProcess(lock.contents()));
                    taken = true;
                    return lock;
                }
            } finally {
                if (!taken) {
                    posix.close(descriptor);
                }
            }
        }
    }

    /** Returns what stands in the lock file while a store is removed that belongs to no daemon: who finds it can trust nothing. */
    public static byte[] removalRecord() {
        LockRecord untrusted = LockRecord.ofThisProcess(LockRecord.Contents.UNTRUSTED);
        String record = new String(untrusted.toBytes(), StandardCharsets.UTF_8);
        return (record + REMOVAL + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private static boolean isBeingRemoved(int descriptor) {
        return LockRecord.text(descriptor).contains(REMOVAL);
    }

    /** Tells whether another process owns the store whose lock this is, as far as this user can tell. */
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
        if (!found.isRegular() || found.uid() != Posix.system().userId()) {
            throw Failure.of(ErrorCode.REFUSED, "the store's lock is not this user's file")
                    .with("file", file)
                    .with("uid", Posix.system().userId())
                    .with("ownerUid", found.uid())
                    .remedy("check who created it, and remove it");
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

    /** Reads the record of the owner, waiting a little for one that has only just taken the lock. */
    private static LockRecord readWritten(int descriptor) {
        LockRecord record = LockRecord.read(descriptor);
        for (int attempt = 0; record.pid() < 0 && attempt < RECORD_ATTEMPTS; attempt++) {
            LockSupport.parkNanos(RECORD_PAUSE_NS);
            record = LockRecord.read(descriptor);
        }
        return record;
    }

    /** Tells whether the file that is locked is still the one that others find. */
    public boolean isInPlace() {
        return held
                && FileNumber.of(file)
                        .filter(FileNumber.of(posix.status(descriptor))::equals)
                        .isPresent();
    }

    /** Tells whether the owner before this one stopped in order, so that its catalog can be trusted. */
    public boolean wasLeftClean() {
        return found.isClean() && found.fitsThisBoot();
    }

    /** Returns what is known of the versions that the owner before this one left. */
    public LockRecord.Contents contents() {
        return found.contentsFound(isVolatile);
    }

    /** Notes that every version has been looked at: until then, a start that is cut short knows no more than this one. */
    public void markAdopted() {
        write(LockRecord.ofThisProcess());
    }

    /** Notes that the store was left in order, for the next start, once all of it is on its disk; nothing where that fails. */
    public void markClean() {
        try {
            if (!isVolatile) {
                BulkIo.system().syncFileSystem(descriptor);
            }
            write(LockRecord.ofThisProcess().stoppedInOrder());
        } catch (LarderException e) {
            LOG.warn(
                    "the store may not be synced to its disk, so it is not trusted after a reboot: {}", e.getMessage());
        }
    }

    /**
     * Writes into the file that is locked, whatever has its name by now. Every record has the same length and is written over the one
     * before it in one call: a kill or a full disk leaves either the old one or the new one, and never an empty file.
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
            posix.close(descriptor);
        }
    }
}
