package dev.larder.loader;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Hands out {@link Batch} objects in turn, so that none is created per batch and a closed one stays recognisable.
 *
 * <p>A batch object is used again, but only after at least {@link #REST} others: whoever still holds a closed batch gets an
 * exception from it until then, not the data of another batch. One that was kept is never used again, as its holder may have it
 * for any time: its close() could close somebody else's batch. A new object takes its place, which only keeping costs.
 *
 * <p>Guarded by the ring.
 */
final class BatchRotation {
    /** How many batches a closed batch object rests at least. */
    static final int REST = 256;

    private final Supplier<Batch> fresh;

    /** Those that are open; at most as many as there are slots. */
    private final List<Batch> open;

    /** Those that are closed, the one that has rested longest first. */
    private final ArrayDeque<Batch> resting;

    BatchRotation(Ring ring, Source source, States states, int depth) {
        fresh = () -> new Batch(ring, source, states);
        open = new ArrayList<>(depth);
        resting = new ArrayDeque<>(Stream.generate(fresh).limit(REST + depth).toList());
    }

    Batch open(Slot slot, boolean kept) {
        Batch batch = resting.removeFirst();
        open.add(batch);
        batch.open(slot, kept);
        return batch;
    }

    /** Closes a batch and returns its slot; nothing if it was closed before. */
    @Nullable
    Slot close(Batch batch) {
        if (!batch.isOpen()) {
            return null;
        }
        open.remove(batch);
        resting.addLast(batch.isHeld() ? fresh.get() : batch);
        return batch.invalidate();
    }

    /** Returns those that are open, as a list that closing them does not change. */
    List<Batch> allOpen() {
        return List.copyOf(open);
    }

    int openCount() {
        return open.size();
    }
}
