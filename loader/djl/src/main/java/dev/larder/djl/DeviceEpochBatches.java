package dev.larder.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.translate.Batchifier;
import dev.larder.loader.Batch;
import dev.larder.loader.Epoch;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Copies the batches of one epoch from a device to the host, as DJL batches. */
final class DeviceEpochBatches implements Iterator<ai.djl.training.dataset.Batch> {
    private final Epoch epoch;
    private final Iterator<Batch> batches;
    private final NDManager manager;
    private final ReadBack readBack;
    private final List<String> data;
    private final List<String> labels;
    private @Nullable Batch waiting;
    private long samples;

    DeviceEpochBatches(Epoch epoch, NDManager manager, ReadBack readBack, List<String> data, List<String> labels) {
        this.epoch = epoch;
        this.batches = epoch.iterator();
        this.manager = manager;
        this.readBack = readBack;
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
        NDManager own = manager.newSubManager();
        try (Batch batch = waiting) {
            waiting = null;
            NDList dataArrays = readBack.read(own, batch, data);
            NDList labelArrays = readBack.read(own, batch, labels);
            List<Long> rows =
                    IntStream.range(0, batch.size()).mapToObj(batch::row).toList();
            samples += batch.size();
            return new ai.djl.training.dataset.Batch(
                    own,
                    dataArrays,
                    labelArrays,
                    batch.size(),
                    Batchifier.STACK,
                    Batchifier.STACK,
                    samples,
                    epoch.samples(),
                    rows);
        } catch (RuntimeException e) {
            own.close();
            throw e;
        }
    }
}
