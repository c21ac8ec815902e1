package dev.larder.server.store.space;

import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Space that an ingest or a region has set aside in the store before it writes: from {@code Residency.reserve} until closed. It
 * grows while its owner finds out how much it needs, in whatever steps suit; growing evicts what may leave. Thread-safe.
 */
public final class Reservation implements AutoCloseable {
    private static final long MEASURED_EACH_TIME = -1;
    private static final int MOST_NAMED = 10;

    /** Sets more space aside, or refuses; see {@link Reservation#grow}. */
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
    private long besideBytes;
    private long frozenBytes = MEASURED_EACH_TIME;
    private boolean open = true;

    Reservation(Space space, Growth growth) {
        this.space = space;
        this.growth = growth;
    }

    /** Returns how much is set aside. */
    public long bytes() {
        synchronized (space) {
            return bytes;
        }
    }

    /**
     * Sets more space aside, evicting what can come back where that makes the room. May wait a moment for versions that somebody
     * was just told of.
     *
     * @throws dev.larder.error.LarderException NO_SPACE with all numbers, and nothing changed
     * @throws java.util.concurrent.CancellationException where nobody wants it any more
     */
    public void grow(long moreBytes) {
        if (moreBytes < 0) {
            throw new IllegalArgumentException("moreBytes=" + moreBytes);
        }
        if (moreBytes > 0) {
            growth.grow(this, moreBytes);
        }
    }

    /** Grows to at least so much in all. For one thread at a time. */
    public void growTo(long wantedBytes) {
        grow(Math.max(0, wantedBytes - bytes()));
    }

    /** Allows for so many arrays in indices and manifests, which take space on the mount and do not count for the capacity. */
    public void allowFor(int datasets, long arrays) {
        synchronized (space) {
            besideBytes = space.besideBytes(datasets, arrays);
        }
    }

    /** Returns the space that indices and manifests need on the mount, in bytes. */
    public long metadataBytes() {
        synchronized (space) {
            return besideBytes;
        }
    }

    /** Names a file or folder that is written within this space: what it occupies by now is not expected to be written again. */
    public void writesTo(Path place) {
        synchronized (space) {
            places.add(place);
        }
    }

    /** Measures what the places occupy by now, in bytes; it looks at every file. */
    public long writtenBytes() {
        synchronized (space) {
            return occupiedBytes();
        }
    }

    /** Tells of what is written within this space and has no name: {@code occupiedBytes} says how much that is by now. */
    void writesTo(LongSupplier occupiedBytes) {
        synchronized (space) {
            unnamed.add(occupiedBytes);
        }
    }

    /** Notes what has left to make this room. */
    public void noteEvicted(PublishedVersion version) {
        synchronized (space) {
            evicted.add(version);
        }
    }

    /** Notes computed rows that have left to make this room. */
    public void noteEvicted(String rows, long storedBytes) {
        synchronized (space) {
            evictedRows.add(rows);
            evictedRowBytes += storedBytes;
        }
    }

    /** Returns what has left to make this room, in that order. */
    public List<PublishedVersion> evicted() {
        synchronized (space) {
            return List.copyOf(evicted);
        }
    }

    /** Says what has left to make this room, as a note for whoever asked; empty where nothing has. */
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

    /** Takes what the places occupy now for what they occupy, until {@link #shrink}: they are about to be renamed. */
    public void freeze() {
        synchronized (space) {
            frozenBytes = occupiedBytes();
        }
    }

    /** Measures again, as nothing was renamed after all. */
    public void thaw() {
        synchronized (space) {
            frozenBytes = MEASURED_EACH_TIME;
        }
    }

    /** Gives back what counts as used from now on, and measures again. The caller holds the lock of the space. */
    void shrink(long publishedBytes) {
        besideBytes = 0;
        bytes -= Math.min(bytes, publishedBytes);
        frozenBytes = MEASURED_EACH_TIME;
    }

    long besideBytes() {
        return besideBytes;
    }

    /** Returns what it may take on the mount. The caller holds the lock of the space. */
    long plannedBytes() {
        return bytes == 0 ? 0 : bytes + besideBytes;
    }

    void add(long moreBytes) {
        if (!open) {
            throw new IllegalStateException("reservation is closed");
        }
        bytes = Math.addExact(bytes, moreBytes);
    }

    /** Returns how much would be yet to be written if it were larger by so much. The caller holds the lock of the space. */
    long unwrittenBytes(long moreBytes) {
        long planned = bytes + moreBytes == 0 ? 0 : bytes + moreBytes + besideBytes;
        return Math.max(0, planned - (frozenBytes == MEASURED_EACH_TIME ? occupiedBytes() : frozenBytes));
    }

    private long occupiedBytes() {
        long sum = 0;
        for (int i = places.size() - 1; i >= 0; i--) { // backwards, as files move forwards: none is counted twice
            sum += Occupied.bytes(places.get(i));
        }
        for (LongSupplier occupiedBytes : unnamed) {
            sum += occupiedBytes.getAsLong();
        }
        return sum;
    }

    /** Gives the space back: what was published of it counts as used. Idempotent. */
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
