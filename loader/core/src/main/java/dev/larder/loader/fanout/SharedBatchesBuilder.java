package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Configures how a consumer attaches to a ring. */
public final class SharedBatchesBuilder {
    private static final int NAMES_SHOWN = 10;

    private final StoreLayout store;
    private final String name;
    private Duration timeout = Duration.ofMinutes(5);
    private boolean atNextEpoch;

    SharedBatchesBuilder(StoreLayout store, String name) {
        this.store = store;
        this.name = name;
    }

    /** Sets the time limit to attach, which waits for a first batch and a free seat, and then of each step; 5 min by default. */
    public SharedBatchesBuilder timeout(Duration perStep) {
        timeout = BatchPublisherBuilder.requirePositive(perStep, "timeout");
        return this;
    }

    /**
     * Skips to the start of the next epoch, unless no batch was published yet. By default, a late consumer begins with the oldest batch
     * in the ring.
     */
    public SharedBatchesBuilder fromNextEpoch() {
        atNextEpoch = true;
        return this;
    }

    /** Waits for the ring and takes a seat. The caller closes the result. */
    public SharedBatches attach() {
        Names.requireRing(name);
        Posix posix = Posix.system();
        Path folder = store.ring(name);
        RingWait wait = new RingWait("attach", timeout);
        Path ring = folder.resolve(RingDescriptor.RING);
        while (true) {
            boolean isFull = false;
            if (Files.exists(ring)) {
                Seat seat = takeSeat(posix, folder);
                SharedBatches attached = seat == null ? null : sit(posix, folder, seat);
                if (attached != null) {
                    return attached;
                }
                isFull = seat == null && Files.exists(ring); // a producer removes the ring before its seats
            }
            if (wait.isOver()) {
                throw isFull ? full(wait) : absent(wait);
            }
            wait.pause();
        }
    }

    /** Maps the ring of a seat; returns null if the ring has ended. Owns the seat. */
    private @Nullable SharedBatches sit(Posix posix, Path folder, Seat seat) {
        RingReader reader = null;
        SharedBatches attached = null;
        try {
            reader = RingReader.tryOpen(posix, folder);
            if (reader != null && reader.isLinked() && seat.isLinked()) { // else the files may belong to two rings
                // From here on the producer may see the seat, publish its last batches, and remove the ring.
                long first = begin(reader, seat);
                attached = new SharedBatches(reader, seat, first, atNextEpoch && first > 0, timeout);
            }
            return attached;
        } finally {
            if (attached == null) {
                seat.close();
                if (reader != null) {
                    reader.close();
                }
            }
        }
    }

    private static @Nullable Seat takeSeat(Posix posix, Path folder) {
        try {
            return Seat.tryTake(posix, folder);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return null; // the ring is being removed
            }
            throw e;
        }
    }

    /** Announces the start of this consumer before it checks that the batch is still there: one of the two sees the other. */
    private long begin(RingReader reader, Seat seat) {
        long wish = atNextEpoch ? reader.publishedAcquire() : reader.oldestAcquire();
        seat.sit(wish);
        for (long oldest = reader.oldestAcquire(); oldest > wish; oldest = reader.oldestAcquire()) {
            wish = oldest;
            seat.finish(wish);
        }
        return wish;
    }

    private LarderException full(RingWait wait) {
        return wait.late("no seat of the ring is free")
                .with("ring", name)
                .with("store", store.root())
                .remedy("end other consumers, or raise the producer's seats(…)");
    }

    private LarderException absent(RingWait wait) {
        boolean isClaimed = Files.isDirectory(store.ring(name));
        Failure failure = isClaimed
                ? wait.late("the producer has not published a first batch")
                : Failure.of(ErrorCode.NOT_FOUND, "no such ring").with("waited", timeout);
        return failure.with("ring", name)
                .with("store", store.root())
                .remedy(isClaimed ? "check what the producer is doing" : "start its producer; there are " + others());
    }

    private List<String> others() {
        try (Stream<Path> rings = Files.list(store.rings())) {
            return rings.map(ring -> String.valueOf(ring.getFileName()))
                    .sorted()
                    .limit(NAMES_SHOWN)
                    .toList();
        } catch (IOException none) {
            return List.of();
        }
    }
}
