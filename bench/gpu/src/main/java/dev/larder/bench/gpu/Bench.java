package dev.larder.bench.gpu;

import dev.larder.client.Dataset;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.opencl.OpenClDevice;
import dev.larder.loader.transform.Transform;
import java.util.Optional;

/**
 * What every part of the check works with.
 *
 * @param device open, for what goes below loaders
 * @param cuda the driver's own copies, where there are any
 */
record Bench(
        DeviceBackend device,
        RawOpenCl raw,
        Optional<Cuda> cuda,
        SyntheticStore store,
        Scale scale,
        Limits limits,
        Report report) {
    /** Bytes to half-precision floats, as trainers of pictures want them. */
    static final Transform TO_HALF = new Transform().toFloat().cast("<f2");

    /** What {@link #TO_HALF} reads and writes for a stored byte. */
    static final int MOVED_BYTES = 3;

    /** The rows whose targets are set: a small picture, and two of the usual sizes. */
    static final int[] LARGE_ROWS = {3_072, 76_800, 150_528};

    private static final int MOST_THREADS = 10;

    DeviceInfo info() {
        return device.info();
    }

    /** Tells whether targets for a GPU of NVIDIA count here. */
    boolean isNvidia() {
        return info().kind().equals("gpu") && info().platform().contains("NVIDIA");
    }

    /** Returns how many threads gather: as many as there are processors, less those for uploading and consuming. */
    static int threads() {
        return Math.max(1, Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors() - 2));
    }

    Device chosen() {
        return OpenClDevice.of(info());
    }

    /** Describes a loader of shuffled rows. */
    static LoaderBuilder loader(Dataset dataset, int batch, Transform transform) {
        return Loader.over(dataset)
                .arrays(SyntheticStore.ARRAY)
                .transform(SyntheticStore.ARRAY, transform)
                .shuffle(7)
                .batch(batch)
                .dropLast(true)
                .threads(threads());
    }

    /** Opens a loader for the device. */
    Loader open(LoaderBuilder loader, DeviceMode mode) {
        return loader.device(chosen()).deviceMode(mode).build();
    }
}
