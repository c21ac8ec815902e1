package dev.larder.djl;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.Batchifier;
import ai.djl.util.Progress;
import dev.larder.loader.Epoch;
import dev.larder.loader.Loader;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A DJL dataset of batches that a {@link Loader} computes on a device and copies to the host for the engine.
 *
 * <p><b>Cost.</b> DJL cannot use memory that is already on a device. The loop therefore waits while every array is copied from the
 * device into a host buffer, at link speed. On a CPU the engine works in that buffer; on a GPU it copies it again to its own
 * memory. This is worthwhile if the engine leaves a device unused that can run the transforms instead of the CPU. Otherwise
 * {@link LarderDataset}, which copies nothing on a CPU, is faster.
 *
 * <p>The loader may use one device or the host. Every {@link #getData} ends the current epoch and begins the next one. A dataset
 * serves one thread at a time and one loader; the caller closes the loader after the last batch. The loader's own batch is closed
 * as soon as it is copied; a DJL batch may stay open indefinitely. DJL's loops close each batch, and its buffers are then reused:
 * duplicate arrays that must outlive their batch.
 */
public final class DeviceDataset implements Dataset {
    private final Loader loader;
    private final List<String> data;
    private final List<String> labels;
    private final ReadBack readBack = new ReadBack();
    private long nextEpoch;

    /** Uses one array of the loader's batches as data and another as labels. */
    public DeviceDataset(Loader loader, String data, String labels) {
        this(loader, List.of(data), List.of(labels));
    }

    /** Uses one or more arrays of the loader's batches as data, and any number as labels, in this order. */
    public DeviceDataset(Loader loader, List<String> data, List<String> labels) {
        if (data.isEmpty()) {
            throw new IllegalArgumentException("at least one data array is required");
        }
        this.loader = loader;
        this.data = List.copyOf(data);
        this.labels = List.copyOf(labels);
    }

    /** Sets the number of the epoch that the next {@link #getData} begins; initially 0. */
    public DeviceDataset startAt(long epoch) {
        nextEpoch = epoch;
        return this;
    }

    /** Begins the loader's next epoch. The result can be iterated once; the caller owns its batches. */
    @Override
    public Iterable<Batch> getData(NDManager manager) {
        Epoch epoch = loader.epoch(nextEpoch);
        nextEpoch = epoch.number() + 1;
        return () ->
                new EpochBatches(epoch, manager, (batch, own, progress) -> read(batch, own, progress, epoch.samples()));
    }

    /** Copies a batch to the host, and closes it. */
    private Batch read(dev.larder.loader.Batch batch, NDManager own, long progress, long progressTotal) {
        try (batch) {
            return new Batch(
                    own,
                    readBack.read(own, batch, data),
                    readBack.read(own, batch, labels),
                    batch.size(),
                    Batchifier.STACK,
                    Batchifier.STACK,
                    progress,
                    progressTotal,
                    IntStream.range(0, batch.size()).mapToObj(batch::row).toList());
        }
    }

    /** Does nothing: the loader is built and its dataset is open. */
    @Override
    public void prepare(@Nullable Progress progress) {
        if (progress != null) {
            progress.reset("Preparing " + loader, 1);
            progress.end();
        }
    }

    /** Returns the number of buffers free for reuse. */
    int freeBuffers() {
        return readBack.free();
    }

    @Override
    public String toString() {
        return "DeviceDataset{data " + data + " labels " + labels + " of " + loader + "}";
    }
}
