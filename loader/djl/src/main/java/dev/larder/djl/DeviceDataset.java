package dev.larder.djl;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.util.Progress;
import dev.larder.loader.Epoch;
import dev.larder.loader.Loader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A DJL dataset whose batches a {@link Loader} makes on a device, read back for the engine.
 *
 * <p><b>What it costs.</b> DJL has no way to take memory that is on a device already. So every array goes from the device into a
 * buffer of the host, at the link's speed, while the loop waits for it; on a CPU the engine works in that buffer, on a GPU it copies
 * it to its own memory once more. This is worth it where a device is at hand that the engine does not use, and its kernels take
 * the transforms off the processor; else {@link LarderDataset}, which copies nothing on a CPU, is faster.
 *
 * <p>The loader has one device, or none. Every {@link #getData} begins its next epoch, and thereby ends the one before. A dataset
 * is for one thread at a time and one loader; the caller closes the loader, after the last batch. The loader's own batch is given
 * back as soon as it is read; a DJL batch can stay open as long as it likes. What it was read into is used again once it is closed,
 * as DJL's loops do: whatever is to outlive it has to be duplicated.
 */
public final class DeviceDataset implements Dataset {
    private final Loader loader;
    private final List<String> data;
    private final List<String> labels;
    private final ReadBack readBack = new ReadBack();
    private long nextEpoch;

    /** Takes one array of the loader's batches as data and another one as labels. */
    public DeviceDataset(Loader loader, String data, String labels) {
        this(loader, List.of(data), List.of(labels));
    }

    /** Takes several arrays of the loader's batches as data, and several or none as labels, each in this order. */
    public DeviceDataset(Loader loader, List<String> data, List<String> labels) {
        if (data.isEmpty()) {
            throw new IllegalArgumentException("name at least one array of data");
        }
        this.loader = loader;
        this.data = List.copyOf(data);
        this.labels = List.copyOf(labels);
    }

    /** Sets which epoch the next {@link #getData} begins; 0 at first. */
    public DeviceDataset startAt(long epoch) {
        nextEpoch = epoch;
        return this;
    }

    /** Begins the loader's next epoch. What it returns can be iterated once; its batches belong to the caller. */
    @Override
    public Iterable<Batch> getData(NDManager manager) {
        Epoch epoch = loader.epoch(nextEpoch);
        nextEpoch = epoch.number() + 1;
        return () -> new DeviceEpochBatches(epoch, manager, readBack, data, labels);
    }

    /** Does nothing: the loader stands, and its dataset is open. */
    @Override
    public void prepare(@Nullable Progress progress) {
        if (progress != null) {
            progress.reset("Preparing " + loader, 1);
            progress.end();
        }
    }

    /** Returns how many buffers wait to be used again. */
    int freeBuffers() {
        return readBack.free();
    }

    @Override
    public String toString() {
        return "DeviceDataset{data " + data + " labels " + labels + " of " + loader + "}";
    }
}
