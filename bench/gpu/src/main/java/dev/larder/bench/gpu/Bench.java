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
 * The device, the store and the report that all parts of the check use.
 *
 * @param device an open device, for parts that use no loader
 * @param cuda the CUDA driver, if there is one
 */
record Bench(
        DeviceBackend device,
        RawOpenCl raw,
        Optional<Cuda> cuda,
        SyntheticStore store,
        Scale scale,
        Limits limits,
        Report report) {
    /** Converts bytes to half-precision floats, as training on images does. */
    static final Transform TO_HALF = new Transform().toFloat().cast("<f2");

    /** The bytes that {@link #TO_HALF} reads and writes for each stored byte. */
    static final int MOVED_BYTES = 3;

    /** The row sizes with targets: a small image, and two common sizes. */
    static final int[] LARGE_ROWS = {3_072, 76_800, 150_528};

    private static final int MOST_THREADS = 10;

    DeviceInfo info() {
        return device.info();
    }

    /** Returns whether targets for an NVIDIA GPU apply to this device. */
    boolean isNvidia() {
        return info().kind().equals("gpu") && info().platform().contains("NVIDIA");
    }

    /** Returns the number of gather threads: one for each processor, except two for uploads and the consumer. */
    static int threads() {
        return Math.max(1, Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors() - 2));
    }

    Device chosen() {
        return OpenClDevice.of(info());
    }

    /** Returns a builder for a loader of shuffled rows. */
    static LoaderBuilder loader(Dataset dataset, int batch, Transform transform) {
        return Loader.over(dataset)
                .arrays(SyntheticStore.ARRAY)
                .transform(SyntheticStore.ARRAY, transform)
                .shuffle(7)
                .batchSize(batch)
                .dropLast(true)
                .threads(threads());
    }

    /** Opens a loader for the device. */
    Loader open(LoaderBuilder loader, DeviceMode mode) {
        return loader.device(chosen()).deviceMode(mode).build();
    }
}
