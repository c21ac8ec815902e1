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
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Computes how much a store may hold: the requested capacity, the free space of the mount, and on a tmpfs the memory limit of the cgroup,
 * because its pages are charged to it. On a disk, the kernel drops pages to stay below the limit.
 */
public final class Space {
    private static final int DEFAULT_PERCENT = 80;

    /** Memory of a JVM outside its heap: code, classes, stacks, buffers. */
    private static final long NON_HEAP_BYTES = 128L << 20;

    private static final String RESIDENT = "RssAnon:";

    /** Index, manifest, and the temporary file that replaces one of them. */
    private static final long METADATA_FILES = 3;

    private static final long METADATA_ARRAY_BYTES = 1024;

    /** More than any store has, and small enough that no sum here overflows. */
    private static final long MOST_BYTES = 1L << 60;

    private static final Path MACHINE = Path.of("/");

    private final Path root;
    private final Path machine;

    /** The space that the shortest file occupies. */
    private final long fileUnitBytes;

    private final boolean isDisk;
    private final long capacityBytes;
    private final long mostBytes;
    private final Set<Reservation> reservations = new LinkedHashSet<>();

    /**
     * Opens the space of the store at {@code root}. Measures the mount once if no capacity is requested.
     *
     * @param heldBytes the size of the store's present data, which counts as free here
     */
    public Space(Path root, OptionalLong capacityBytes, long heldBytes) {
        this(root, capacityBytes, heldBytes, MACHINE);
    }

    /** Reads the limits of cgroups below the root directory {@code machine}. */
    Space(Path root, OptionalLong capacityBytes, long heldBytes, Path machine) {
        this.root = root;
        this.machine = machine;
        Optional<Mount> mount = Mount.of(root);
        this.fileUnitBytes = mount.map(Mount::fileUnitBytes).orElse(PageSize.BYTES);
        this.isDisk = mount.filter(found -> !found.isVolatile()).isPresent();
        this.mostBytes = freeBytes() + heldBytes;
        this.capacityBytes = capacityBytes.orElse(mostBytes / 100 * DEFAULT_PERCENT);
    }

    /** Returns how much the mount and the cgroup allowed the store to hold when it was opened. */
    public long mostBytes() {
        return mostBytes;
    }

    public long capacityBytes() {
        return capacityBytes;
    }

    /** Returns how much may still be added to a store that holds {@code usedBytes}. */
    public synchronized long freeBytes(LongSupplier usedBytes) {
        long unwritten = unwrittenBytes(); // before the free space of the mount is read
        return Math.max(0, Math.min(ofCapacity(usedBytes), freeBytes() - unwritten));
    }

    /** Returns the space that is reserved at this moment, in bytes. */
    public synchronized long reservedBytes() {
        long sum = 0;
        for (Reservation reservation : reservations) {
            sum += reservation.bytes();
        }
        return sum;
    }

    /** Starts an empty reservation. */
    public synchronized Reservation newReservation(Reservation.Growth growth) {
        Reservation reservation = new Reservation(this, growth);
        reservations.add(reservation);
        return reservation;
    }

    synchronized void end(Reservation reservation) {
        reservations.remove(reservation);
    }

    /**
     * Reserves more space, or returns false and changes nothing if it does not fit.
     *
     * @param usedBytes returns the size of published data; called under the lock, so that nothing is published between the two checks
     */
    public synchronized boolean tryGrow(Reservation reservation, long moreBytes, LongSupplier usedBytes) {
        if (missingBytes(reservation, moreBytes, usedBytes) > 0) {
            return false;
        }
        reservation.add(moreBytes);
        return true;
    }

    /** Returns how many bytes must be freed before {@link #tryGrow} can succeed. */
    public synchronized long missingBytes(Reservation reservation, long moreBytes, LongSupplier usedBytes) {
        if (moreBytes < 0) {
            throw new IllegalArgumentException("moreBytes=" + moreBytes);
        } else if (moreBytes == 0) {
            return 0; // even if the store is overfull
        } else if (moreBytes > MOST_BYTES) {
            return moreBytes;
        }
        long missingOfCapacity = moreBytes - ofCapacity(usedBytes);
        long missingOfMount = moreBytes + reservation.metadataBytes() - (freeBytes() - plannedBytes());
        if (missingOfMount > 0) { // only now is it worth measuring how much of each reservation has been written
            long unwritten = 0;
            for (Reservation each : reservations) {
                unwritten += each.unwrittenBytes(each == reservation ? moreBytes : 0);
            }
            missingOfMount = unwritten - freeBytes(); // read last, so that bytes written meanwhile never count as free
        }
        return Math.max(0, Math.max(missingOfCapacity, missingOfMount));
    }

    /** Returns the part of the capacity that is left; negative if the store is overfull. */
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

    /** Estimates from above the space of the indices and manifests of this many datasets with this many arrays. */
    long metadataBytes(int datasets, long arrays) {
        return datasets * METADATA_FILES * fileUnitBytes + arrays * METADATA_ARRAY_BYTES;
    }

    private long unwrittenBytes() {
        long sum = 0;
        for (Reservation reservation : reservations) {
            sum += reservation.unwrittenBytes(0);
        }
        return sum;
    }

    /** Counts written data as used and shrinks the reservation by the same amount, in one step. */
    public synchronized void handOver(Reservation reservation, long publishedBytes, Runnable makeUsed) {
        makeUsed.run();
        reservation.shrink(publishedBytes);
    }

    /** Returns whether an I/O failure means that the file system has no free blocks or inodes. */
    public static boolean isFull(IOException failure) {
        String message = String.valueOf(failure.getMessage());
        return message.contains("No space left on device") || message.contains("Disk quota exceeded");
    }

    /** Returns the error for an I/O failure of the store itself, not of a source. */
    public static LarderException failed(String what, Path path, IOException failure) {
        boolean isFull = isFull(failure);
        return Failure.of(isFull ? ErrorCode.NO_SPACE : ErrorCode.UNEXPECTED, what)
                .with("path", path)
                .with("reason", failure)
                .cause(failure)
                .remedy(isFull ? Remedy.FREE_SPACE : "check the store's file system and permissions");
    }

    /** Returns the space that the mount and the cgroup leave at this moment, in bytes. */
    long freeBytes() {
        long mount = Posix.system().space(root).freeBytes();
        return isDisk
                ? mount
                : Math.min(
                        mount,
                        MemoryGroup.leastFreeBytes(machine, ownGrowthBytes()).orElse(Long.MAX_VALUE));
    }

    /**
     * Returns by how much this process may still grow, in bytes. The same cgroup is charged for it: if the store filled the cgroup to the
     * last page, the kernel would kill the daemon.
     */
    private long ownGrowthBytes() {
        try (Stream<String> lines = Files.lines(machine.resolve("proc/self/status"))) {
            long residentBytes = lines.filter(line -> line.startsWith(RESIDENT))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10)
                    .findFirst()
                    .orElse(Long.MAX_VALUE);
            return Math.max(0, Runtime.getRuntime().maxMemory() + NON_HEAP_BYTES - residentBytes);
        } catch (IOException | UncheckedIOException | NumberFormatException e) {
            return 0; // a machine without this file
        }
    }
}
