package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.HugePages;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The folder of a ring, for its producer: created when a name is claimed, removed when it is released. The lock of the parent folder
 * excludes other producers and the daemon's cleaning while it is created or removed.
 */
final class RingFolder implements AutoCloseable {
    private static final Logger LOG = Logs.of(RingFolder.class);
    private static final Duration PROBES_PASS = Duration.ofMillis(500);
    private static final Duration GATE_OPENS = Duration.ofSeconds(10);
    private static final int ATTEMPTS = 20;
    private static final int GROUP_BIT = 02000;
    private static final int NONE = -1;

    private final Posix posix;
    private final Path folder;
    private final boolean isShared;
    private final int[] seats;
    private int lock = NONE;
    private int ring = NONE;

    private RingFolder(Posix posix, Path folder, boolean isShared, int seatCount) {
        this.posix = posix;
        this.folder = folder;
        this.isShared = isShared;
        this.seats = new int[seatCount];
        Arrays.fill(seats, NONE);
    }

    /** Creates a ring's folder with a page for each seat, and holds its lock; takes over the name of a dead producer. */
    static RingFolder claim(Posix posix, StoreLayout store, String name, int seatCount) {
        Path folder = store.ring(name);
        try {
            int gate = openGate(posix, store);
            try {
                for (int attempt = 1; ; attempt++) {
                    removeDead(posix, folder);
                    RingFolder made = new RingFolder(posix, folder, isShared(store.rings()), seatCount);
                    if (made.tryMake(attempt == ATTEMPTS)) {
                        return made;
                    }
                }
            } finally {
                posix.close(gate);
            }
        } catch (IOException e) {
            throw failed("cannot make the folder of a ring", folder, e);
        }
    }

    private static int openGate(Posix posix, StoreLayout store) throws IOException {
        Path rings = store.rings();
        if (!Files.isDirectory(rings, LinkOption.NOFOLLOW_LINKS)) {
            makeFolder(rings, isShared(store.root()));
        }
        int gate = posix.openForReading(rings);
        try {
            if (!tryLock(posix, gate, GATE_OPENS)) {
                throw Failure.of(
                                ErrorCode.DEADLINE,
                                "another process is creating a ring in this folder and does not finish")
                        .with("folder", rings)
                        .with("timeout", GATE_OPENS)
                        .remedy("find the holder of the folder's lock in /proc/locks");
            }
            return gate;
        } catch (RuntimeException | Error e) {
            posix.close(gate);
            throw e;
        }
    }

    /** Tries to take a lock until a time limit, because other processes hold it briefly to test it. */
    private static boolean tryLock(Posix posix, int descriptor, Duration limit) {
        RingWait wait = new RingWait("lock", limit);
        while (!posix.tryLockExclusive(descriptor)) {
            if (wait.isOver()) {
                return false;
            }
            wait.pause();
        }
        return true;
    }

    private static void removeDead(Posix posix, Path folder) throws IOException {
        int lock;
        try {
            lock = posix.openForReading(folder.resolve(RingDescriptor.PRODUCER_LOCK));
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NOT_FOUND) {
                throw e;
            }
            removeFiles(folder);
            return;
        }
        try {
            if (!tryLock(posix, lock, PROBES_PASS)) {
                throw Failure.of(ErrorCode.REFUSED, "a ring of this name has a live producer")
                        .with("ring", folder.getFileName())
                        .with("producer", readNote(folder))
                        .remedy("end that producer, or publish under another name");
            }
            removeFiles(folder);
        } finally {
            posix.close(lock);
        }
    }

    /** Removes the files, the lock file last, so that the name is taken until the end. */
    private static void removeFiles(Path folder) throws IOException {
        if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            Files.deleteIfExists(folder.resolve(RingDescriptor.RING));
            Path lock = folder.resolve(RingDescriptor.PRODUCER_LOCK);
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
                for (Path file : files) {
                    if (!file.equals(lock)) {
                        Files.deleteIfExists(file);
                    }
                }
            } catch (NoSuchFileException gone) {
                return;
            }
            Files.deleteIfExists(lock);
        }
        Files.deleteIfExists(folder);
    }

    private static String readNote(Path folder) {
        try {
            return Files.readString(folder.resolve(RingDescriptor.PRODUCER_LOCK))
                    .trim();
        } catch (IOException gone) {
            return "unknown";
        }
    }

    /** Returns false if a producer that ends removed the folder at the same moment. */
    private boolean tryMake(boolean isLast) throws IOException {
        try {
            makeFolder(folder, isShared);
            Path file = folder.resolve(RingDescriptor.PRODUCER_LOCK);
            lock = open(file, 0600, 0640);
            if (!tryLock(posix, lock, PROBES_PASS)) {
                throw Failure.of(ErrorCode.REFUSED, "the lock of a new ring is held by another process")
                        .with("file", file)
                        .remedy("find the holder in /proc/locks");
            }
            Files.writeString(file, "pid=" + ProcessHandle.current().pid() + "\n");
            for (int seat = 0; seat < seats.length; seat++) {
                seats[seat] = open(folder.resolve(RingDescriptor.seatFile(seat)), 0600, 0660);
                reservePage(seats[seat]);
            }
            return true;
        } catch (IOException | RuntimeException | Error e) {
            close();
            if (isLast || !isRemovedMeanwhile(e)) {
                throw e;
            }
            return false;
        }
    }

    private static boolean isRemovedMeanwhile(Throwable failure) {
        return failure instanceof NoSuchFileException
                || (failure instanceof LarderException e && e.code() == ErrorCode.NOT_FOUND);
    }

    private int open(Path file, int ownMode, int sharedMode) {
        int descriptor = posix.openOrCreate(file, ownMode);
        try {
            posix.changeMode(descriptor, isShared ? sharedMode : ownMode); // independent of the umask
            return descriptor;
        } catch (RuntimeException | Error e) {
            posix.close(descriptor);
            throw e;
        }
    }

    /**
     * Creates the ring's file with {@code slotBytes} of each slot reserved, and then makes it visible to consumers. The caller closes
     * the memory.
     */
    MappedMemory makeRing(RingGeometry geometry, long slotBytes) {
        Path draft = folder.resolve("ring.new");
        MappedMemory memory = null;
        try {
            closeRing(); // from an attempt that failed
            ring = open(draft, 0600, 0640);
            reserveSlots(geometry, slotBytes);
            memory = MappedMemory.writable(posix, ring, geometry.byteSize());
            geometry.writeTo(memory.buffer(0, geometry.slotsOffset()));
            Files.move(draft, folder.resolve(RingDescriptor.RING), StandardCopyOption.ATOMIC_MOVE);
            return memory;
        } catch (IOException e) {
            abandon(draft, memory);
            throw failed("cannot make a ring", folder, e);
        } catch (RuntimeException | Error e) {
            abandon(draft, memory);
            throw e;
        }
    }

    private static void abandon(Path draft, @Nullable MappedMemory memory) {
        if (memory != null) {
            memory.close();
        }
        try {
            Files.deleteIfExists(draft);
        } catch (IOException e) {
            LOG.warn("cannot remove the draft of a ring: file={} reason={}", draft, e.toString());
        }
    }

    /** Reserves the header and the start of each slot. The rest of a slot is a hole, which takes no memory. */
    private void reserveSlots(RingGeometry geometry, long slotBytes) {
        try {
            BulkIo.system().resize(ring, geometry.byteSize());
            posix.reserve(ring, 0, geometry.headerByteSize());
            for (int slot = 0; slot < geometry.slots(); slot++) {
                HugePages.reserve(posix, ring, geometry.slotOffset(slot), slotBytes);
            }
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_SPACE) {
                throw e;
            }
            BulkIo.system().resize(ring, 0);
            throw noSpace(geometry.headerByteSize() + geometry.slots() * slotBytes, e);
        }
    }

    /** Reserves more of the ring's file; fails with NO_SPACE if the mount is full, and then changes nothing. */
    void reserveMore(long offset, long byteSize) {
        try {
            HugePages.reserve(posix, ring, offset, byteSize);
        } catch (LarderException e) {
            throw e.code() == ErrorCode.NO_SPACE ? noSpace(byteSize, e) : e;
        }
    }

    private void reservePage(int descriptor) {
        try {
            posix.reserve(descriptor, 0, RingDescriptor.PAGE_LENGTH);
        } catch (LarderException e) {
            throw e.code() == ErrorCode.NO_SPACE ? noSpace(RingDescriptor.PAGE_LENGTH, e) : e;
        }
    }

    private LarderException noSpace(long needed, LarderException cause) {
        return Failure.of(ErrorCode.NO_SPACE, "not enough space for a ring")
                .with("needed", needed)
                .with("free", posix.space(folder).freeBytes())
                .with("folder", folder)
                .cause(cause)
                .remedy("choose fewer slots(…) or smaller batches, " + Remedy.FREE_SPACE);
    }

    /** Returns the pages of the seats. This owns them. */
    int[] seats() {
        return seats.clone();
    }

    Path path() {
        return folder;
    }

    /** Removes the files, unless another process did, and then releases the lock. Idempotent. */
    @Override
    public void close() {
        if (lock != NONE) {
            try {
                if (posix.status(lock).isLinked()) {
                    removeFiles(folder);
                }
            } catch (DirectoryNotEmptyException | NoSuchFileException e) {
                LOG.debug("another producer has taken the name: folder={}", folder);
            } catch (IOException e) {
                LOG.warn("cannot remove a ring: folder={} reason={}", folder, e.toString());
            }
            posix.close(lock);
            lock = NONE;
        }
        closeRing();
        for (int seat = 0; seat < seats.length; seat++) {
            if (seats[seat] != NONE) {
                posix.close(seats[seat]);
                seats[seat] = NONE;
            }
        }
    }

    private void closeRing() {
        if (ring != NONE) {
            posix.close(ring);
            ring = NONE;
        }
    }

    private static void makeFolder(Path folder, boolean shared) throws IOException {
        try {
            Files.createDirectory(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.setAttribute(folder, "unix:mode", shared ? 02750 : 0700, LinkOption.NOFOLLOW_LINKS);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        }
    }

    /** Returns whether a store is open to a group: its folders have this bit. */
    private static boolean isShared(Path folder) throws IOException {
        return ((int) Files.getAttribute(folder, "unix:mode", LinkOption.NOFOLLOW_LINKS) & GROUP_BIT) != 0;
    }

    private static LarderException failed(String what, Path folder, IOException failure) {
        boolean isFull = String.valueOf(failure.getMessage()).contains("No space left on device");
        return Failure.of(isFull ? ErrorCode.NO_SPACE : ErrorCode.REFUSED, what)
                .with("folder", folder)
                .with("reason", failure)
                .cause(failure)
                .remedy(
                        isFull
                                ? Remedy.FREE_SPACE
                                : "publish as the owner of the store, and check that the store still exists");
    }
}
