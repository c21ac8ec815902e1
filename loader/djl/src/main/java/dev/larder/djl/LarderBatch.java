package dev.larder.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import dev.larder.loader.BatchArray;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A DJL batch with its arrays in a slot of the loader, valid until it is closed. Its progress counts samples of the epoch; its
 * indices are the dataset rows of the samples.
 */
public final class LarderBatch extends Batch {
    private final dev.larder.loader.Batch source;
    private final AtomicBoolean closed = new AtomicBoolean();

    private LarderBatch(
            dev.larder.loader.Batch source,
            NDManager manager,
            NDList data,
            NDList labels,
            long progress,
            long progressTotal) {
        super(manager, data, labels, source.size(), Batchifier.STACK, Batchifier.STACK, progress, progressTotal);
        this.source = source;
    }

    /** Keeps the loader's batch open until {@code own} is closed, and creates arrays over its slot. */
    static LarderBatch of(
            dev.larder.loader.Batch batch,
            NDManager own,
            List<String> data,
            List<String> labels,
            long progress,
            long progressTotal) {
        own.attachUncappedInternal(UUID.randomUUID().toString(), batch.keep());
        return new LarderBatch(
                batch, own, arrays(own, batch, data), arrays(own, batch, labels), progress, progressTotal);
    }

    private static NDList arrays(NDManager manager, dev.larder.loader.Batch batch, List<String> names) {
        NDList arrays = new NDList(names.size());
        for (String name : names) {
            arrays.add(array(manager, batch.array(name)));
        }
        return arrays;
    }

    /** Creates an array over the slot's bytes. PyTorch ignores the buffer's position, so the buffer must start at the first byte. */
    private static NDArray array(NDManager manager, BatchArray source) {
        NDArray array = manager.create(
                source.byteBuffer(), new Shape(source.shape()), DjlTypes.of(source.name(), source.dtype()));
        array.setName(source.name());
        return array;
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
