package dev.larder.server.store.space;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.posix.MemoryGroup;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Knows how much may be put into a store: the capacity asked for, what the mount has free, and what the cgroup's memory limit
 * leaves (tmpfs pages are charged to it).
 */
public final class Space {
    private static final int DEFAULT_PERCENT = 80;

    /** What a JVM needs besides its heap: code, classes, stacks, buffers. */
    private static final long BESIDE_HEAP_BYTES = 128L << 20;

    private static final String RESIDENT = "RssAnon:";

    /** Index, manifest, and what is written in place of one of them. */
    private static final long BESIDE_FILES = 3;

    private static final long BESIDE_ARRAY_BYTES = 1024;

    /** More than any store has: what is asked for beyond is missing, and no sum here overflows. */
    private static final long MOST_BYTES = 1L << 60;

    private static final Path MACHINE = Path.of("/");

    private final Path root;
    private final Path machine;

    /** What the shortest file occupies. */
    private final long fileUnitBytes;

    private final long capacityBytes;
    private final long mostBytes;
    private final Set<Reservation> reservations = new LinkedHashSet<>();

    /**
     * Measures the mount under {@code root} once, where no capacity is asked for.
     *
     * @param heldBytes what the store holds already, which counts as free for this
     */
    public Space(Path root, OptionalLong capacityBytes, long heldBytes) {
        this(root, capacityBytes, heldBytes, MACHINE);
    }

    /** Reads limits of control groups from the files of a machine that begin at {@code machine}. */
    Space(Path root, OptionalLong capacityBytes, long heldBytes, Path machine) {
        this.root = root;
        this.machine = machine;
        this.fileUnitBytes = Mount.of(root).map(Mount::fileUnitBytes).orElse(PageSize.BYTES);
        this.mostBytes = freeBytes() + heldBytes;
        this.capacityBytes = capacityBytes.orElse(mostBytes / 100 * DEFAULT_PERCENT);
    }

    /** Returns how much mount and control group allowed the store to hold when it was opened. */
    public long mostBytes() {
        return mostBytes;
    }

    public long capacityBytes() {
        return capacityBytes;
    }

    /** Returns how much may still be put in where {@code usedBytes} are in. */
    public synchronized long freeBytes(LongSupplier usedBytes) {
        long unwritten = unwrittenBytes(); // before the mount is asked
        return Math.max(0, Math.min(ofCapacity(usedBytes), freeBytes() - unwritten));
    }

    /** Returns what is set aside at this moment, in bytes. */
    public synchronized long reservedBytes() {
        long sum = 0;
        for (Reservation reservation : reservations) {
            sum += reservation.bytes();
        }
        return sum;
    }

    /** Starts a reservation of nothing. */
    public synchronized Reservation newReservation(Reservation.Growth growth) {
        Reservation reservation = new Reservation(this, growth);
        reservations.add(reservation);
        return reservation;
    }

    synchronized void end(Reservation reservation) {
        reservations.remove(reservation);
    }

    /**
     * Sets more space aside; false, with nothing done, where it would not fit beside all others.
     *
     * @param usedBytes says how much is in; asked under the lock, so that nothing is published between two looks
     */
    public synchronized boolean tryGrow(Reservation reservation, long moreBytes, LongSupplier usedBytes) {
        if (missingBytes(reservation, moreBytes, usedBytes) > 0) {
            return false;
        }
        reservation.add(moreBytes);
        return true;
    }

    /** Returns how much would have to leave before {@link #tryGrow} would set that much aside. */
    public synchronized long missingBytes(Reservation reservation, long moreBytes, LongSupplier usedBytes) {
        if (moreBytes < 0) {
            throw new IllegalArgumentException("moreBytes=" + moreBytes);
        } else if (moreBytes == 0) {
            return 0; // also where the store is overfull
        } else if (moreBytes > MOST_BYTES) {
            return moreBytes;
        }
        long missingOfCapacity = moreBytes - ofCapacity(usedBytes);
        long missingOfMount = moreBytes + reservation.besideBytes() - (freeBytes() - plannedBytes());
        if (missingOfMount > 0) { // only then is it worth looking at what was written of all that is set aside
            long unwritten = 0;
            for (Reservation each : reservations) {
                unwritten += each.unwrittenBytes(each == reservation ? moreBytes : 0);
            }
            missingOfMount =
                    unwritten - freeBytes(); // asked last, so that what is written meanwhile is never taken for free
        }
        return Math.max(0, Math.max(missingOfCapacity, missingOfMount));
    }

    /** Returns what the capacity leaves; below zero where the store is overfull. */
    private long ofCapacity(LongSupplier usedBytes) {
        return capacityBytes - usedBytes.getAsLong() - reservedBytes();
    }

    private long plannedBytes() {
        long sum = 0;
        for (Reservation reservation : reservations) {
            sum += reservation.plannedBytes();
        }
        return sum;
    }

    /** Returns what the indices and manifests of so many datasets with so many arrays occupy, at most about. */
    long besideBytes(int datasets, long arrays) {
        return datasets * BESIDE_FILES * fileUnitBytes + arrays * BESIDE_ARRAY_BYTES;
    }

    private long unwrittenBytes() {
        long sum = 0;
        for (Reservation reservation : reservations) {
            sum += reservation.unwrittenBytes(0);
        }
        return sum;
    }

    /** Has what was written within a reservation count as used, in one step with giving back as much of the reservation. */
    public synchronized void handOver(Reservation reservation, long publishedBytes, Runnable makeUsed) {
        makeUsed.run();
        reservation.shrink(publishedBytes);
    }

    /** Tells whether an I/O failure means that the file system has no blocks or no inodes left. */
    public static boolean isFull(IOException failure) {
        String message = String.valueOf(failure.getMessage());
        return message.contains("No space left on device") || message.contains("Disk quota exceeded");
    }

    /** Explains an I/O failure of the store itself, not of a source. */
    public static LarderException failed(String what, Path path, IOException failure) {
        boolean isFull = isFull(failure);
        return Failure.of(isFull ? ErrorCode.NO_SPACE : ErrorCode.UNEXPECTED, what)
                .with("path", path)
                .with("reason", failure)
                .cause(failure)
                .remedy(isFull ? Remedy.FREE_SPACE : "check the store's file system");
    }

    /** Returns what mount and cgroup leave at this moment. */
    long freeBytes() {
        long mount = Posix.system().space(root).freeBytes();
        return Math.min(
                mount, MemoryGroup.leastFreeBytes(machine, ownGrowthBytes()).orElse(Long.MAX_VALUE));
    }

    /**
     * Returns by how much this process itself may still grow, which is charged to the same group: a store that filled the group to
     * the last page would have the daemon killed for its next object.
     */
    private long ownGrowthBytes() {
        try (Stream<String> lines = Files.lines(machine.resolve("proc/self/status"))) {
            long residentBytes = lines.filter(line -> line.startsWith(RESIDENT))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10)
                    .findFirst()
                    .orElse(Long.MAX_VALUE);
            return Math.max(0, Runtime.getRuntime().maxMemory() + BESIDE_HEAP_BYTES - residentBytes);
        } catch (IOException | UncheckedIOException | NumberFormatException e) {
            return 0; // a machine that does not say
        }
    }
}
