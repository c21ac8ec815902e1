package dev.larder.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A DJL batch whose arrays lie in a loader's slot, until it is closed. Its progress counts samples of the epoch, its indices are the
 * rows that the samples have in the dataset.
 */
public final class LarderBatch extends Batch {
    private final dev.larder.loader.Batch source;
    private final AtomicBoolean closed = new AtomicBoolean();

    LarderBatch(
            dev.larder.loader.Batch source,
            NDManager manager,
            NDList data,
            NDList labels,
            long progress,
            long progressTotal) {
        super(manager, data, labels, source.size(), Batchifier.STACK, Batchifier.STACK, progress, progressTotal);
        this.source = source;
    }

    /**
     * Returns the loader's batch: its number, how many of its samples count, the state to resume from when it is consumed. Open for as
     * long as this; not to be closed by itself.
     */
    public dev.larder.loader.Batch source() {
        return source;
    }

    /** Returns the rows that the samples have in the dataset, in a new list. */
    @Override
    public List<Long> getIndices() {
        return Arrays.stream(source.rows()).boxed().toList();
    }

    /** Closes the arrays and gives the slot back. Idempotent, from any thread. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            super.close();
        }
    }
}
