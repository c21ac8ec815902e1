package dev.larder.server.store;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Space that an ingest or a region has set aside in the store before it writes: from {@code Residency.reserve} until closed. It
 * grows while its owner finds out how much it needs, in whatever steps suit; growing evicts what may leave. Thread-safe.
 */
public final class Reservation implements AutoCloseable {
    private static final long MEASURED_EACH_TIME = -1;

    /** Sets more space aside, or refuses; see {@link Reservation#grow}. */
    @FunctionalInterface
    public interface Growth {
        /** Calls {@link Store#tryGrow} until it succeeds, or throws. */
        void grow(Reservation reservation, long moreBytes);
    }

    private final Space space;
    private final Growth growth;
    private final List<Path> places = new ArrayList<>();
    private final List<PublishedVersion> evicted = new ArrayList<>();
    private long bytes;
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

    /** Names a file or folder that is written within this space: what it occupies by now is not expected to be written again. */
    public void writesTo(Path place) {
        synchronized (space) {
            places.add(place);
        }
    }

    /** Notes what has left to make this room. */
    public void noteEvicted(PublishedVersion version) {
        synchronized (space) {
            evicted.add(version);
        }
    }

    /** Returns what has left to make this room, in that order. */
    public List<PublishedVersion> evicted() {
        synchronized (space) {
            return List.copyOf(evicted);
        }
    }

    /** Takes what the places occupy now for what they occupy, until {@link #shrink}: they are about to be renamed. */
    void freeze() {
        synchronized (space) {
            frozenBytes = occupiedBytes();
        }
    }

    /** Measures again, as nothing was renamed after all. */
    void thaw() {
        synchronized (space) {
            frozenBytes = MEASURED_EACH_TIME;
        }
    }

    /** Gives back what counts as used from now on, and measures again. The caller holds the lock of the space. */
    void shrink(long publishedBytes) {
        bytes -= Math.min(bytes, publishedBytes);
        frozenBytes = MEASURED_EACH_TIME;
    }

    void add(long moreBytes) {
        if (!open) {
            throw new IllegalStateException("reservation is closed");
        }
        bytes = Math.addExact(bytes, moreBytes);
    }

    /** Returns how much would be yet to be written if it were larger by so much. The caller holds the lock of the space. */
    long unwrittenBytes(long moreBytes) {
        return Math.max(0, bytes + moreBytes - (frozenBytes == MEASURED_EACH_TIME ? occupiedBytes() : frozenBytes));
    }

    private long occupiedBytes() {
        long sum = 0;
        for (Path place : places) {
            sum += Occupied.bytes(place);
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
