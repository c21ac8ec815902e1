package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.space.Occupied;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The rings of a store. Producers create, fill and remove them; this class removes those of dead producers and measures the others. A ring
 * is alive while the lock on its {@code producer.lock} is held. Thread-safe.
 */
final class Rings {
    private final Posix posix;
    private final StoreLayout layout;
    private volatile long liveBytes;

    Rings(Posix posix, StoreLayout layout) {
        this.posix = posix;
        this.layout = layout;
    }

    /** Creates the folder if it is missing; replaces another kind of file with its name. */
    static void makeFolder(StoreLayout layout) throws IOException {
        Path rings = layout.rings();
        if (!Files.isDirectory(rings, LinkOption.NOFOLLOW_LINKS)) {
            new Removal().remove(rings);
            Modes.makeFolder(rings);
        }
    }

    /** Returns the space that the rings of live producers occupied at the last {@link #sweep}, in bytes. */
    long liveBytes() {
        return liveBytes;
    }

    /**
     * Removes the rings of dead producers and measures the rest. Does nothing while a producer creates a ring, which holds the folder's
     * lock.
     */
    synchronized void sweep() throws IOException {
        int gate;
        try {
            gate = posix.openForReading(layout.rings());
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return;
            }
            throw e;
        }
        try {
            if (posix.tryLockExclusive(gate)) {
                long bytes = 0;
                for (Path ring : entries(layout)) {
                    bytes += removeIfDead(ring) ? 0 : storedBytes(posix, ring);
                }
                liveBytes = bytes;
            }
        } finally {
            posix.close(gate);
        }
    }

    /** Returns the entries of the rings folder, sorted. */
    static List<Path> entries(StoreLayout layout) throws IOException {
        if (!Files.isDirectory(layout.rings(), LinkOption.NOFOLLOW_LINKS)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(layout.rings())) {
            return entries.sorted().toList();
        }
    }

    private boolean removeIfDead(Path ring) throws IOException {
        int lock = openLock(posix, ring);
        if (lock < 0) {
            new Removal().remove(ring);
            return true;
        }
        try {
            boolean isDead = posix.tryLockExclusive(lock);
            if (isDead) { // no process can take the ring over meanwhile: that needs the lock
                new Removal().remove(ring);
            }
            return isDead;
        } finally {
            posix.close(lock);
        }
    }

    /** Returns whether a producer has the ring open. */
    static boolean isAlive(Posix posix, Path ring) {
        int lock = openLock(posix, ring);
        if (lock < 0) {
            return false;
        }
        try {
            return !posix.tryLockShared(lock);
        } finally {
            posix.close(lock);
        }
    }

    /** Returns a descriptor, or -1 if there is no lock file. */
    private static int openLock(Posix posix, Path ring) {
        if (!Files.isDirectory(ring, LinkOption.NOFOLLOW_LINKS)) {
            return -1;
        }
        try {
            return posix.openForReading(ring.resolve(RingDescriptor.PRODUCER_LOCK));
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return -1;
            }
            throw e;
        }
    }

    /** Adds up the space that the files of a ring occupy. Their lengths would be wrong, because a ring's file is mostly holes. */
    static long storedBytes(Posix posix, Path ring) throws IOException {
        try (Stream<Path> files = Files.list(ring)) {
            return files.mapToLong(file -> storedFileBytes(posix, file)).sum();
        } catch (NoSuchFileException | NotDirectoryException gone) {
            return 0;
        }
    }

    /** Returns the total size of the holes in all rings' files, in bytes. */
    static long holeBytes(Posix posix, StoreLayout layout) throws IOException {
        long holes = 0;
        for (Path ring : entries(layout)) {
            Path file = ring.resolve(RingDescriptor.RING);
            holes += Math.max(0, file.toFile().length() - storedFileBytes(posix, file));
        }
        return holes;
    }

    /** Returns the space that a file occupies, or 0 if it cannot be opened. */
    static long storedFileBytes(Posix posix, Path file) {
        try {
            return Occupied.status(posix, file).storedBytes();
        } catch (LarderException gone) {
            return 0;
        }
    }
}
