package dev.larder.djl;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.util.Progress;
import dev.larder.loader.Epoch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A DJL dataset of batches from a {@link Loader}, which sets order, shards, batch size, transforms and threads.
 *
 * <pre>{@code
 * try (Loader images = Loader.over(mnist).arrays("train-images", "train-labels").shuffle(42).batchSize(256)
 *         .transform("train-images", new Transform().toFloat().channelsFirst()).build()) {
 *     EasyTrain.fit(trainer, 5, new LarderDataset(images, "train-images", "train-labels"), null);
 * }
 * }</pre>
 *
 * <p>Every {@link #getData} ends the loader's current epoch and begins the next one; the loop may end early. The loop throws the
 * loader's failures unchanged. A dataset serves one thread at a time and one loader; the caller closes the loader after the last
 * batch.
 *
 * <p><b>Memory.</b> On a CPU, a batch's arrays use the loader's slot without a copy; on a GPU the engine copies them to the GPU.
 * A batch holds its slot until it or its manager is closed; DJL's loops close each batch. There must be more slots
 * ({@code LoaderBuilder.prefetch}) than open batches. Duplicate arrays that must outlive their batch: the slot is refilled.
 */
public final class LarderDataset implements Dataset {
    private final Loader loader;
    private final List<String> data;
    private final List<String> labels;
    private long nextEpoch;
    private @Nullable LoaderState resumed;

    /** Uses one array of the loader's batches as data and another as labels. The batches must be in host memory. */
    public LarderDataset(Loader loader, String data, String labels) {
        this(loader, List.of(data), List.of(labels));
    }

    /** Uses one or more arrays of the loader's batches as data, and any number as labels, in this order. */
    public LarderDataset(Loader loader, List<String> data, List<String> labels) {
        if (data.isEmpty()) {
            throw new IllegalArgumentException("at least one data array is required");
        }
        if (!loader.devices().isEmpty()) {
            throw new IllegalArgumentException(
                    "batches of this loader are on a device, use DeviceDataset: loader=" + loader);
        }
        this.loader = loader;
        this.data = List.copyOf(data);
        this.labels = List.copyOf(labels);
    }

    /** Sets the number of the epoch that the next {@link #getData} begins; initially 0. */
    public LarderDataset startAt(long epoch) {
        nextEpoch = epoch;
        resumed = null;
        return this;
    }

    /** Makes the next {@link #getData} continue an earlier run as {@link Loader#resume} does; later epochs follow that one. */
    public LarderDataset resume(LoaderState state) {
        nextEpoch = state.epoch();
        resumed = state;
        return this;
    }

    /** Returns the number of samples, that is the rows of the loader's arrays in all shards together. */
    public long size() {
        return loader.rows();
    }

    /**
     * Begins the loader's next epoch. The result can be iterated once; the caller owns its batches, which are
     * {@link LarderBatch}es. Batches with only skipped samples are omitted.
     */
    @Override
    public Iterable<Batch> getData(NDManager manager) {
        Epoch epoch = resumed == null ? loader.epoch(nextEpoch) : loader.resume(resumed);
        resumed = null;
        nextEpoch = epoch.number() + 1;
        return () -> new EpochBatches(
                epoch,
                manager,
                (batch, own, progress) -> LarderBatch.of(batch, own, data, labels, progress, epoch.samples()));
    }

    /** Does nothing: the loader is built and its dataset is open. */
    @Override
    public void prepare(@Nullable Progress progress) {
        if (progress != null) {
            progress.reset("Preparing " + loader, 1);
            progress.end();
        }
    }

    @Override
    public String toString() {
        return "LarderDataset{data " + data + " labels " + labels + " of " + loader + "}";
    }
}
