package dev.larder.djl;

import ai.djl.ndarray.NDManager;
import dev.larder.loader.Batch;
import dev.larder.loader.Epoch;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** Converts the batches of one epoch to DJL batches. */
final class EpochBatches implements Iterator<ai.djl.training.dataset.Batch> {
    private final Epoch epoch;
    private final Iterator<Batch> batches;
    private final NDManager manager;
    private final Conversion conversion;
    private @Nullable Batch waiting;
    private long samples;

    EpochBatches(Epoch epoch, NDManager manager, Conversion conversion) {
        this.epoch = epoch;
        this.batches = epoch.iterator();
        this.manager = manager;
        this.conversion = conversion;
    }

    /** Converts one batch. */
    @FunctionalInterface
    interface Conversion {
        /**
         * Returns a DJL batch that owns its manager.
         *
         * @param progress the number of samples of the epoch until the end of the batch
         */
        ai.djl.training.dataset.Batch convert(Batch batch, NDManager own, long progress);
    }

    /** Waits for the next batch that has samples; empty batches are skipped, so only the wait shows if one is left. */
    @Override
    public boolean hasNext() {
        while (waiting == null && batches.hasNext()) {
            Batch batch = batches.next();
            waiting = batch.size() == 0 ? null : batch;
        }
        return waiting != null;
    }

    @Override
    public ai.djl.training.dataset.Batch next() {
        if (!hasNext() || waiting == null) {
            throw new NoSuchElementException("epoch has no more batches: epoch=" + epoch.number());
        }
        Batch batch = waiting;
        waiting = null;
        NDManager own = manager.newSubManager();
        try {
            samples += batch.size();
            return conversion.convert(batch, own, samples);
        } catch (RuntimeException e) {
            own.close();
            throw e;
        }
    }
}
