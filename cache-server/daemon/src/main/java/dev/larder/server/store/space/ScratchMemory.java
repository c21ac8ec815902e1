package dev.larder.server.store.space;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Temporary memory for data that a load unpacks or computes before its size is known. It is in unnamed files of the store, so that it is
 * reserved and counted like published data, and vanishes with the process. Thread-safe.
 */
public final class ScratchMemory extends ColumnMemory implements AutoCloseable {
    private static final int WRITABLE = 0600;
    private static final long FIRST_AREA_BYTES = 64L << 20;
    private static final long LARGEST_AREA_BYTES = 4L << 30;
    private static final long SMALLEST_STEP_BYTES = 1L << 20;
    private static final long LARGEST_STEP_BYTES = 64L << 20;

    private final Posix posix;
    private final BulkIo io = BulkIo.system();
    private final Supplier<Path> places;
    private final Reservation reservation;
    private final TreeMap<Long, Area> areas = new TreeMap<>();
    private long areaLeft;
    private long nextAddress;
    private final AtomicLong liveBytes = new AtomicLong();
    private final AtomicLong elsewhereBytes = new AtomicLong();

    /** A mapped file. */
    private record Area(int descriptor, long address, long byteSize) {}

    /**
     * Starts empty.
     *
     * @param places returns names for new files
     * @param reservation grows with the populated memory
     */
    public ScratchMemory(Posix posix, Supplier<Path> places, Reservation reservation) {
        this.posix = posix;
        this.places = places;
        this.reservation = reservation;
        reservation.writesTo(liveBytes::get);
    }

    @Override
    public synchronized long allocate(long byteSize) {
        if (areaLeft < byteSize) {
            Area area = newArea(Math.max(byteSize, nextAreaBytes()));
            areas.put(area.address, area);
            nextAddress = area.address;
            areaLeft = area.byteSize;
        }
        long address = nextAddress;
        nextAddress += byteSize;
        areaLeft -= byteSize;
        return address;
    }

    /** Each area is as long as all before it: descriptors are scarce, addresses are not. */
    private long nextAreaBytes() {
        long sum = areas.values().stream().mapToLong(Area::byteSize).sum();
        return Math.max(FIRST_AREA_BYTES, Math.min(LARGEST_AREA_BYTES, sum));
    }

    private Area newArea(long byteSize) {
        Path path = places.get();
        int descriptor = posix.openOrCreate(path, WRITABLE);
        try {
            Files.delete(path);
            io.resize(descriptor, byteSize);
            return new Area(descriptor, io.mapWritable(descriptor, 0, byteSize), byteSize);
        } catch (IOException e) {
            posix.close(descriptor);
            throw Space.failed("cannot create a temporary file in the store", path, e);
        } catch (RuntimeException | Error e) {
            posix.close(descriptor);
            throw e;
        }
    }

    @Override
    public synchronized void populate(long address, long byteSize) {
        setAside(byteSize);
        Map.Entry<Long, Area> found = areas.floorEntry(address);
        if (found == null) {
            throw new IllegalStateException("scratch memory is closed");
        }
        try {
            posix.reserve(found.getValue().descriptor, address - found.getKey(), byteSize);
        } catch (LarderException e) {
            throw e.code() == ErrorCode.NO_SPACE ? notEnough(byteSize, e) : e;
        }
        liveBytes.addAndGet(byteSize);
    }

    /** Reserves space for bytes outside this memory, such as in a temporary folder on the same tmpfs. A negative size releases it. */
    public synchronized void addElsewhere(long byteSize) {
        setAside(byteSize);
        elsewhereBytes.addAndGet(byteSize);
    }

    /** Grows in steps as large as all before, while there is room, so that few steps are needed. */
    private void setAside(long byteSize) {
        long reserved = reservation.bytes();
        long missing = liveBytes.get() + elsewhereBytes.get() + byteSize - reserved;
        if (missing <= 0) {
            return;
        }
        long step = Math.min(LARGEST_STEP_BYTES, Math.max(SMALLEST_STEP_BYTES, reserved));
        if (step <= missing || !tryGrow(step)) {
            try {
                reservation.grow(missing);
            } catch (LarderException e) {
                throw e.code() == ErrorCode.NO_SPACE ? notEnough(missing, e) : e;
            }
        }
    }

    private boolean tryGrow(long step) {
        try {
            reservation.grow(step);
            return true;
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_SPACE) {
                throw e;
            }
            return false;
        }
    }

    private LarderException notEnough(long byteSize, LarderException cause) {
        return Failure.of(ErrorCode.NO_SPACE, "not enough space for the temporary data of a load")
                .with("made", liveBytes.get() + elsewhereBytes.get())
                .with("more", byteSize)
                .with("reason", cause)
                .cause(cause)
                .exception();
    }

    @Override
    public synchronized void free(long address, long byteSize, long populatedBytes) {
        if (populatedBytes > 0 && areas.floorEntry(address) != null && io.discard(address, byteSize)) {
            liveBytes.addAndGet(-populatedBytes);
        }
    }

    /** Returns the space reserved for bytes outside this memory. */
    public long elsewhereBytes() {
        return elsewhereBytes.get();
    }

    /** Creates a folder that only this user can open; its files count toward the reservation. The caller removes it. */
    public Path newFolder() throws IOException {
        Path folder = places.get();
        Files.createDirectory(
                folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        reservation.writesTo(folder);
        return folder;
    }

    /** Frees everything; the memory must not be used afterwards. Idempotent. */
    @Override
    public synchronized void close() {
        areas.values().forEach(area -> {
            posix.unmap(area.address, area.byteSize);
            posix.close(area.descriptor);
        });
        areas.clear();
        areaLeft = 0;
        liveBytes.set(0);
    }
}
