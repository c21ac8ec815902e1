package dev.larder.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.loader.Epoch;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Converts the batches of one epoch to DJL batches. */
final class EpochBatches implements Iterator<ai.djl.training.dataset.Batch> {
    private final Epoch epoch;
    private final Iterator<Batch> batches;
    private final NDManager manager;
    private final List<String> data;
    private final List<String> labels;
    private @Nullable Batch waiting;
    private long samples;

    EpochBatches(Epoch epoch, NDManager manager, List<String> data, List<String> labels) {
        this.epoch = epoch;
        this.batches = epoch.iterator();
        this.manager = manager;
        this.data = data;
        this.labels = labels;
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
        Batch batch = waiting.keep(); // only now: the epoch reclaims batches that the loop did not take
        waiting = null;
        NDManager own = manager.newSubManager();
        try {
            own.attachUncappedInternal(UUID.randomUUID().toString(), batch);
            samples += batch.size();
            return new LarderBatch(
                    batch, own, arrays(own, batch, data), arrays(own, batch, labels), samples, epoch.samples());
        } catch (RuntimeException e) {
            own.close();
            throw e;
        }
    }

    private static NDList arrays(NDManager manager, Batch batch, List<String> names) {
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
}
