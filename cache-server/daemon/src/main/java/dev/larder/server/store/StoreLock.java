package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.layout.StoreLayout;
import dev.larder.posix.Posix;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

/**
 * The exclusive {@code flock} that makes this process the owner of a store. Held from {@link #take} to {@link #close}, or to the
 * end of the process, however it comes.
 */
final class StoreLock implements AutoCloseable {
    private static final int OWNER_ONLY = 0600;
    private static final int RECORD_ATTEMPTS = 40;
    private static final long RECORD_PAUSE_NS = 5_000_000;

    private final Posix posix;
    private final Path file;
    private final int descriptor;
    private final LockRecord found;
    private boolean held = true;

    private StoreLock(Posix posix, Path file, int descriptor, LockRecord found) {
        this.posix = posix;
        this.file = file;
        this.descriptor = descriptor;
        this.found = found;
    }

    /** Takes the lock, or refuses and names the process that holds it. */
    static StoreLock take(Posix posix, StoreLayout layout) {
        Path file = layout.lock();
        while (true) {
            int descriptor = posix.openOrCreate(file, OWNER_ONLY);
            boolean taken = false;
            try {
                if (!posix.tryLockExclusive(descriptor)) {
                    throw held(layout);
                }
                // A daemon that is stopping unlinks the file while it holds the lock: what we opened may be gone by
                // now.
                if (posix.status(descriptor).isLinked()) {
                    LockRecord found = read(file);
                    StoreLock lock = new StoreLock(posix, file, descriptor, found);
                    lock.write(LockRecord.ofThisProcess());
                    taken = true;
                    return lock;
                }
            } catch (NoSuchFileException e) {
                Thread.onSpinWait(); // its owner has just removed it: try again
            } catch (IOException e) {
                throw Failure.of(ErrorCode.UNEXPECTED, "cannot read the store's lock file")
                        .with("file", file)
                        .with("reason", e)
                        .cause(e)
                        .exception();
            } finally {
                if (!taken) {
                    posix.close(descriptor);
                }
            }
        }
    }

    private static RuntimeException held(StoreLayout layout) throws IOException {
        LockRecord owner = readWritten(layout.lock());
        return Failure.of(ErrorCode.REFUSED, "another daemon owns the store")
                .with("store", layout.root())
                .with("pid", owner.pid())
                .with("started", owner.started())
                .remedy("use that one, stop it with larder stop, or name another store with --store");
    }

    /** Reads the record of the owner, waiting a little for one that has only just taken the lock. */
    private static LockRecord readWritten(Path file) throws IOException {
        LockRecord record = read(file);
        for (int attempt = 0; record.pid() < 0 && attempt < RECORD_ATTEMPTS; attempt++) {
            LockSupport.parkNanos(RECORD_PAUSE_NS);
            record = read(file);
        }
        return record;
    }

    /** Reads what stands there, whatever bytes it is: the lock alone counts. */
    private static LockRecord read(Path file) throws IOException {
        return LockRecord.parse(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
    }

    /** Tells whether the file that is locked is still the one that others find. */
    boolean isInPlace() {
        return held && Files.exists(file) && posix.status(descriptor).isLinked();
    }

    /** Returns what the owner before this one left behind. */
    LockRecord found() {
        return found;
    }

    /** Notes that the store was left in order, for the next start. */
    void markClean() {
        write(LockRecord.ofThisProcess().stoppedInOrder());
    }

    private void write(LockRecord record) {
        try {
            Files.write(file, record.toBytes(), StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot write the store's lock file")
                    .with("file", file)
                    .with("reason", e)
                    .cause(e)
                    .exception();
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
