package dev.larder.server.store.space;

import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Space that a load or a region reserves in the store before it writes, from {@code Residency.reserve} until closed. It grows in any steps
 * while its owner finds out how much it needs; growing may evict. Thread-safe.
 */
public final class Reservation implements AutoCloseable {
    private static final long MEASURED_EACH_TIME = -1;
    private static final int MOST_NAMED = 10;

    /** Reserves more space or fails; see {@link Reservation#grow}. */
    @FunctionalInterface
    public interface Growth {
        /** Calls {@code Store.tryGrow} until it succeeds, or throws. */
        void grow(Reservation reservation, long moreBytes);
    }

    private final Space space;
    private final Growth growth;
    private final List<Path> places = new ArrayList<>();
    private final List<LongSupplier> unnamed = new ArrayList<>();
    private final List<PublishedVersion> evicted = new ArrayList<>();
    private final List<String> evictedRows = new ArrayList<>();
    private long evictedRowBytes;
    private long bytes;
    private long metadataBytes;
    private long frozenBytes = MEASURED_EACH_TIME;
    private boolean open = true;

    Reservation(Space space, Growth growth) {
        this.space = space;
        this.growth = growth;
    }

    /** Returns the reserved space. */
    public long bytes() {
        synchronized (space) {
            return bytes;
        }
    }

    /**
     * Reserves more space. Evicts data that can be loaded again if that makes room. May wait a moment for versions that were just announced
     * to a client.
     *
     * @throws dev.larder.error.LarderException NO_SPACE with all numbers; nothing is changed then
     * @throws java.util.concurrent.CancellationException if all clients of the load have left
     */
    public void grow(long moreBytes) {
        if (moreBytes < 0) {
            throw new IllegalArgumentException("moreBytes=" + moreBytes);
        }
        if (moreBytes > 0) {
            growth.grow(this, moreBytes);
        }
    }

    /** Grows to at least this total. One thread at a time. */
    public void growTo(long totalBytes) {
        grow(Math.max(0, totalBytes - bytes()));
    }

    /** Allows for the indices and manifests of this many arrays: they need space on the mount but do not count toward the capacity. */
    public void allowFor(int datasets, long arrays) {
        synchronized (space) {
            metadataBytes = space.metadataBytes(datasets, arrays);
        }
    }

    /** Returns the space that indices and manifests need on the mount, in bytes. */
    public long metadataBytes() {
        synchronized (space) {
            return metadataBytes;
        }
    }

    /** Adds a file or folder that is written within this reservation. The space that it occupies is no longer expected to be written. */
    public void writesTo(Path place) {
        synchronized (space) {
            places.add(place);
        }
    }

    /** Measures the space that the files of this reservation occupy now, in bytes. Looks at every file. */
    public long writtenBytes() {
        synchronized (space) {
            return occupiedBytes();
        }
    }

    /** Counts data of this reservation that has no file name; {@code occupiedBytes} returns its current size. */
    void writesTo(LongSupplier occupiedBytes) {
        synchronized (space) {
            unnamed.add(occupiedBytes);
        }
    }

    /** Records a version that was evicted to make room for this reservation. */
    public void noteEvicted(PublishedVersion version) {
        synchronized (space) {
            evicted.add(version);
        }
    }

    /** Records computed rows that were evicted to make room for this reservation. */
    public void noteEvicted(String rows, long storedBytes) {
        synchronized (space) {
            evictedRows.add(rows);
            evictedRowBytes += storedBytes;
        }
    }

    /** Returns the versions evicted to make room, oldest eviction first. */
    public List<PublishedVersion> evicted() {
        synchronized (space) {
            return List.copyOf(evicted);
        }
    }

    /** Returns a note for the client that lists the evictions; empty if there were none. */
    public Optional<String> evictionNote() {
        List<PublishedVersion> left = evicted();
        Optional<String> rows = rowsNote();
        if (left.isEmpty()) {
            return rows;
        }
        String names =
                left.stream().limit(MOST_NAMED).map(PublishedVersion::dataset).collect(Collectors.joining(","));
        return Optional.of(rows.map(note -> note + "\n").orElse("") + "evicted to make room: datasets=" + names
                + (left.size() > MOST_NAMED ? ",… count=" + left.size() : "")
                + " bytes="
                + left.stream().mapToLong(PublishedVersion::storedBytes).sum()
                + "; each is loaded again on request; to keep one: larder pin NAME");
    }

    private Optional<String> rowsNote() {
        synchronized (space) {
            return evictedRows.isEmpty()
                    ? Optional.empty()
                    : Optional.of("evicted to make room: rows="
                            + evictedRows.stream().limit(MOST_NAMED).collect(Collectors.joining(","))
                            + " bytes=" + evictedRowBytes + "; they are computed again on request");
        }
    }

    /** Measures the files now and keeps the result until {@link #shrink} or {@link #thaw}, because they are about to be renamed. */
    public void freeze() {
        synchronized (space) {
            frozenBytes = occupiedBytes();
        }
    }

    /** Measures the files again on each call, because the rename did not happen. */
    public void thaw() {
        synchronized (space) {
            frozenBytes = MEASURED_EACH_TIME;
        }
    }

    /** Releases the part that counts as used from now on. The caller holds the lock of the space. */
    void shrink(long publishedBytes) {
        metadataBytes = 0;
        bytes -= Math.min(bytes, publishedBytes);
        frozenBytes = MEASURED_EACH_TIME;
    }

    /** Returns the space it may take on the mount, in bytes. The caller holds the lock of the space. */
    long plannedBytes() {
        return bytes == 0 ? 0 : bytes + metadataBytes;
    }

    void add(long moreBytes) {
        if (!open) {
            throw new IllegalStateException("reservation is closed");
        }
        bytes = Math.addExact(bytes, moreBytes);
    }

    /**
     * Returns how many bytes would still have to be written if the reservation grew by {@code moreBytes}. The caller holds the lock of the
     * space.
     */
    long unwrittenBytes(long moreBytes) {
        long planned = bytes + moreBytes == 0 ? 0 : bytes + moreBytes + metadataBytes;
        return Math.max(0, planned - (frozenBytes == MEASURED_EACH_TIME ? occupiedBytes() : frozenBytes));
    }

    private long occupiedBytes() {
        long sum = 0;
        for (int i = places.size() - 1;
                i >= 0;
                i--) { // backwards, because files move to later places meanwhile: none is counted twice
            sum += Occupied.bytes(places.get(i));
        }
        for (LongSupplier occupiedBytes : unnamed) {
            sum += occupiedBytes.getAsLong();
        }
        return sum;
    }

    /** Releases the rest of the space. Idempotent. */
    @Override
    public void close() {
        synchronized (space) {
            if (open) {
                open = false;
                bytes = 0;
                space.end(this);
            }
        }
    }
}
