package dev.larder.bench.gpu;

import dev.larder.client.Dataset;
import dev.larder.loader.Batch;
import dev.larder.loader.Epoch;
import dev.larder.loader.Loader;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import java.time.Duration;

/** Measures whole loaders that convert bytes to half-precision floats, for a consumer that only takes batches. */
final class LoaderPart {
    private static final int[] RESIDENT_ROWS = {64, 256, 1_024, 3_072, 76_800, 150_528};
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String DATASET = "batches";

    private LoaderPart() {}

    static void stream(Bench bench) throws Exception {
        for (int rowBytes : Bench.LARGE_ROWS) {
            double rate = rate(bench, rowBytes, DeviceMode.STREAM, bench.scale().batchBytes());
            double gather = bench.limits().gather.getOrDefault(rowBytes, Double.NaN);
            double limit = Math.min(bench.limits().upload, gather);
            String name = gather < bench.limits().upload ? "gather" : "locked upload";
            bench.report()
                    .add(Measurement.of("stream", "rows of " + rowBytes + " B, u8 to f16, stored bytes", rate, "GB/s")
                            .beside(limit, name)
                            .atLeast(0.85, bench.isNvidia())
                            .noted(rows(rate, rowBytes)));
        }
    }

    static void resident(Bench bench) throws Exception {
        for (int rowBytes : RESIDENT_ROWS) {
            double rate =
                    rate(bench, rowBytes, DeviceMode.RESIDENT, bench.scale().residentBatchBytes());
            bench.report()
                    .add(Measurement.of(
                                    "resident",
                                    "loader, rows of " + rowBytes + " B, read and written",
                                    rate * Bench.MOVED_BYTES,
                                    "GB/s")
                            .beside(bench.limits().copy, "copy in the device")
                            .noted(rows(rate, rowBytes)));
        }
    }

    private static String rows(double gigabytesPerSecond, int rowBytes) {
        return Math.round(gigabytesPerSecond * 1e9 / rowBytes) + " rows/s";
    }

    private static double rate(Bench bench, int rowBytes, DeviceMode mode, long batchBytes) throws Exception {
        return new Run(bench.store(), bench.scale(), bench.chosen()).rate(rowBytes, mode, batchBytes);
    }

    /** Loaders for a device. */
    record Run(SyntheticStore store, Scale scale, Device device) {
        /** Returns the rate of stored bytes that reach the consumer, in GB/s. */
        double rate(int rowBytes, DeviceMode mode, long batchBytes) throws Exception {
            try (Dataset dataset = store.publishRows(DATASET, scale.arrayBytes(), rowBytes)) {
                int batch = (int) Math.max(1, batchBytes / rowBytes);
                long samples = (long) batch * scale.passBatches();
                try (Loader loader = Bench.loader(dataset, batch, Bench.TO_HALF)
                        .sampler(new RandomRows(samples))
                        .device(device)
                        .deviceMode(mode)
                        .build()) {
                    long[] epoch = {0};
                    return Timing.gigabytesPerSecond(scale, samples * rowBytes, () -> pass(loader, epoch[0]++));
                }
            } finally {
                store.remove(DATASET);
            }
        }
    }

    /** Takes all batches of an epoch, and waits for the last one. */
    private static void pass(Loader loader, long number) {
        Epoch epoch = loader.epoch(number);
        for (Batch batch : epoch) {
            if (batch.number() == epoch.batches() - 1) {
                batch.await(PATIENCE);
            }
        }
    }
}
