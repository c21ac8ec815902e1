package dev.larder.bench.gpu;

import dev.larder.client.Dataset;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.device.WorkQueue;
import dev.larder.loader.internal.transform.SampleKernel;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;

/** Measures single calls, and the wait of a consumer for small batches. */
final class QueuePart {
    private static final int SMALL_ROW_BYTES = 3_072;
    private static final int SMALL_BATCH = 512;
    private static final int CALLS = 2_000;
    private static final int WARM_UP = 500;
    private static final String DATASET = "small";

    private QueuePart() {}

    static void calls(Bench bench) throws Exception {
        SampleKernel kernel = KernelPart.kernel(64, KernelSource.Rows.staged());
        try (HostMemory host = bench.device().allocate(4096);
                DeviceMemory stored = bench.device().allocateDevice(4096);
                DeviceMemory made = bench.device().allocateDevice(8192);
                DeviceKernel.Call call = bench.device().compile(kernel).bind(null, made, List.of(stored))) {
            WorkQueue uploads = bench.device().uploads();
            WorkQueue kernels = bench.device().kernels();
            report(bench, "enqueue an upload of 4 KiB", uploads, () -> uploads.upload(host, 0, stored, 0, 4096));
            report(bench, "enqueue a kernel", kernels, () -> kernels.launch(call, 64));
            report(
                    bench,
                    "create and close a fence",
                    kernels,
                    () -> kernels.fence().close());
            double trip = Timing.nanosPerRun(bench.scale(), () -> {
                kernels.launch(call, 64);
                Timing.spin(kernels.fence());
            });
            bench.report().add(Measurement.of("calls", "enqueue a kernel and wait for it", trip / 1e3, "us"));
        }
    }

    /** Measures only the calls: the waits that empty the queue do not count. */
    private static void report(Bench bench, String what, WorkQueue queue, Runnable call) {
        double[] rounds = new double[bench.scale().rounds() + 1];
        for (int round = 0; round < rounds.length; round++) {
            long taken = 0;
            for (int i = 0; i < CALLS; i++) {
                long start = System.nanoTime();
                call.run();
                taken += System.nanoTime() - start;
                if (i % 32 == 0) {
                    Timing.spin(queue.fence());
                }
            }
            Timing.spin(queue.fence());
            rounds[round] = taken / 1e3 / CALLS;
        }
        bench.report().add(Measurement.of("calls", what, Timing.median(rounds), "us"));
    }

    static void latency(Bench bench) throws Exception {
        new Latency("latency", bench.report(), bench.chosen(), bench.isNvidia()).run(bench.store(), bench.scale());
    }

    /**
     * Measures a consumer's wait for small batches.
     *
     * @param part the name of the figures
     * @param isNvidia whether the target for an NVIDIA GPU applies
     */
    record Latency(String part, Report report, Device device, boolean isNvidia) {
        void run(SyntheticStore store, Scale scale) throws Exception {
            try (Dataset dataset = store.publishRows(DATASET, scale.arrayBytes(), SMALL_ROW_BYTES)) {
                for (DeviceMode mode : List.of(DeviceMode.RESIDENT, DeviceMode.STREAM)) {
                    run(dataset, mode, 4);
                    run(dataset, mode, 1);
                }
            } finally {
                store.remove(DATASET);
            }
        }

        private void run(Dataset dataset, DeviceMode mode, int slots) {
            RandomRows rows = new RandomRows((long) SMALL_BATCH * (CALLS + WARM_UP));
            long[] nanos = new long[CALLS];
            try (Loader loader = Bench.loader(dataset, SMALL_BATCH, Bench.TO_HALF)
                    .sampler(rows)
                    .device(device)
                    .deviceMode(mode)
                    .deviceSlots(slots)
                    .build()) {
                Iterator<Batch> batches = loader.epoch(0).iterator();
                for (int i = -WARM_UP; i < CALLS; i++) {
                    long start = System.nanoTime();
                    Batch batch = batches.next();
                    Timing.spinOpen(batch.ready());
                    if (i >= 0) {
                        nanos[i] = System.nanoTime() - start;
                    }
                }
            }
            String what = mode.name().toLowerCase(Locale.ROOT) + ", 512 x 3 KB, next() to ready, "
                    + (slots == 1 ? "nothing ahead" : slots + " slots");
            double p50 = Timing.percentile(nanos, CALLS, 50) / 1e3;
            double p99 = Timing.percentile(nanos, CALLS, 99) / 1e3;
            boolean aimed = mode == DeviceMode.RESIDENT && slots > 1;
            Measurement measurement = Measurement.of(part, what + ", p50", p50, "us");
            report.add(aimed ? measurement.atMost(25, isNvidia) : measurement);
            report.add(Measurement.of(part, what + ", p99", p99, "us"));
        }
    }
}
