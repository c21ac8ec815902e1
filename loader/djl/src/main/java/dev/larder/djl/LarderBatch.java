package dev.larder.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A DJL batch with its arrays in a slot of the loader, valid until it is closed. Its progress counts samples of the epoch; its
 * indices are the dataset rows of the samples.
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
     * Returns the loader's batch, with its number, the number of valid samples, and the state to resume from after this batch.
     * Closing this object closes it; do not close it separately.
     */
    public dev.larder.loader.Batch source() {
        return source;
    }

    /** Returns the dataset rows of the samples, in a new list. */
    @Override
    public List<Long> getIndices() {
        return Arrays.stream(source.rows()).boxed().toList();
    }

    /** Closes the arrays and returns the slot to the loader. Idempotent and thread-safe. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            super.close();
        }
    }
}
