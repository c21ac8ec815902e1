package dev.larder.loader;

import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Hands out {@link Batch} objects in turn, so that none is created per batch and a closed one stays recognisable.
 *
 * <p>A batch object is used again, but only after at least {@link #REST} others: whoever still holds a closed batch gets an
 * exception from it until then, not the data of another batch. To make that hold for ever would cost a new object per batch.
 *
 * <p>Guarded by the ring.
 */
final class BatchRotation {
    /** How many batches a closed batch object rests at least. */
    static final int REST = 256;

    private final List<Batch> batches;

    /** Those that are closed, the one that has rested longest first. */
    private final ArrayDeque<Batch> resting;

    BatchRotation(Ring ring, Source source, States states, int depth) {
        batches = Stream.generate(() -> new Batch(ring, source, states))
                .limit(REST + depth)
                .toList();
        resting = new ArrayDeque<>(batches);
    }

    Batch open(Slot slot, boolean kept) {
        Batch batch = resting.removeFirst(); // at most as many are open as there are slots
        batch.open(slot, kept);
        return batch;
    }

    /** Closes a batch and returns its slot; nothing if it was closed before. */
    @Nullable
    Slot close(Batch batch) {
        if (!batch.isOpen()) {
            return null;
        }
        resting.addLast(batch);
        return batch.invalidate();
    }

    List<Batch> all() {
        return batches;
    }

    int openCount() {
        return batches.size() - resting.size();
    }
}
