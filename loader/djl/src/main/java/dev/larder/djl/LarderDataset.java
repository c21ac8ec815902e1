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
 * A DJL dataset whose batches a {@link Loader} makes: order, shards, batch size, transforms and threads are the loader's.
 *
 * <pre>{@code
 * try (Loader images = Loader.over(mnist).arrays("train-images", "train-labels").shuffle(42).batch(256)
 *         .transform("train-images", new Transform().toFloat().channelsFirst()).build()) {
 *     EasyTrain.fit(trainer, 5, new LarderDataset(images, "train-images", "train-labels"), null);
 * }
 * }</pre>
 *
 * <p>Every {@link #getData} begins the loader's next epoch, and thereby ends the one before; to leave its loop early is fine.
 * What keeps a batch from being made is thrown in the loop as the loader throws it. A dataset is for one thread at a time and
 * one loader; the caller closes the loader, after the last batch.
 *
 * <p><b>Memory.</b> On a CPU, arrays of a batch are the loader's slot itself, not a copy; on a GPU the engine copies them there.
 * A batch holds its slot until it is closed, as DJL's loops do, or with the manager it was made for: there must be more slots
 * ({@code LoaderBuilder.prefetch}) than batches are open at a time. Whatever is to outlive its batch has to be duplicated: the slot is
 * filled again.
 */
public final class LarderDataset implements Dataset {
    private final Loader loader;
    private final List<String> data;
    private final List<String> labels;
    private long nextEpoch;
    private @Nullable LoaderState resumed;

    /** Takes one array of the loader's batches, which must stay on the host, as data and another one as labels. */
    public LarderDataset(Loader loader, String data, String labels) {
        this(loader, List.of(data), List.of(labels));
    }

    /** Takes several arrays of the loader's batches as data, and several or none as labels, each in this order. */
    public LarderDataset(Loader loader, List<String> data, List<String> labels) {
        if (data.isEmpty()) {
            throw new IllegalArgumentException("name at least one array of data");
        }
        if (!loader.devices().isEmpty()) {
            throw new IllegalArgumentException(
                    "batches of this loader are on a device, use DeviceDataset: loader=" + loader);
        }
        this.loader = loader;
        this.data = List.copyOf(data);
        this.labels = List.copyOf(labels);
    }

    /** Sets which epoch the next {@link #getData} begins; 0 at first. */
    public LarderDataset startAt(long epoch) {
        nextEpoch = epoch;
        resumed = null;
        return this;
    }

    /** Lets the next {@link #getData} go on where an earlier run stopped, see {@link Loader#resume}; epochs follow from there. */
    public LarderDataset resume(LoaderState state) {
        nextEpoch = state.epoch();
        resumed = state;
        return this;
    }

    /** Returns how many samples there are: rows of the loader's arrays, all shards together. */
    public long size() {
        return loader.rows();
    }

    /**
     * Begins the loader's next epoch. What it returns can be iterated once; its batches belong to the caller and are
     * {@link LarderBatch}es. Batches all of whose samples were skipped are left out.
     */
    @Override
    public Iterable<Batch> getData(NDManager manager) {
        Epoch epoch = resumed == null ? loader.epoch(nextEpoch) : loader.resume(resumed);
        resumed = null;
        nextEpoch = epoch.number() + 1;
        return () -> new EpochBatches(epoch, manager, data, labels);
    }

    /** Does nothing: the loader stands, and its dataset is open. */
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
