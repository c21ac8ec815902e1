package dev.larder.bench.gpu;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.device.WorkQueue;
import dev.larder.loader.internal.transform.SampleKernel;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.npy.Dtype;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;

/** Measures the loader's kernels on resident rows without a loader, and the overlap of uploads and kernels. */
final class KernelPart {
    private static final int[] ROW_BYTES = {64, 256, 1_024, 3_072, 76_800, 150_528};
    private static final int LAUNCHES = 8;
    private static final int SLOTS = 3;
    private static final int ROUNDS = 12;

    private KernelPart() {}

    static void gather(Bench bench) throws Exception {
        long arrayBytes = Math.min(bench.scale().arrayBytes(), bench.info().maxAllocationBytes());
        for (int rowBytes : ROW_BYTES) {
            long rows = arrayBytes / rowBytes;
            int samples = (int) Math.max(1, bench.scale().residentBatchBytes() / rowBytes);
            SampleKernel kernel = kernel(rowBytes, KernelSource.Rows.resident(rows, 1));
            try (DeviceMemory source = filled(bench, rows * rowBytes);
                    DeviceMemory target = bench.device().allocateDevice((long) samples * rowBytes * 2);
                    DeviceMemory control = control(bench, kernel, samples, rows);
                    DeviceKernel.Call call = bench.device().compile(kernel).bind(control, target, List.of(source))) {
                gather(bench, call, samples, rowBytes);
            }
        }
    }

    private static void gather(Bench bench, DeviceKernel.Call call, int samples, int rowBytes) throws Exception {
        WorkQueue queue = bench.device().kernels();
        long moved = (long) samples * rowBytes * Bench.MOVED_BYTES * LAUNCHES;
        double rate = Timing.gigabytesPerSecond(bench.scale(), moved, () -> {
            for (int i = 0; i < LAUNCHES; i++) {
                queue.launch(call, samples);
            }
            Timing.spin(queue.fence());
        });
        Measurement measurement = Measurement.of(
                        "resident", "kernel, rows of " + rowBytes + " B, read and written", rate, "GB/s")
                .beside(bench.limits().copy, "copy in the device");
        bench.report().add(rowBytes >= 3_072 ? measurement.atLeast(0.75, bench.isNvidia()) : measurement);
    }

    static SampleKernel kernel(int rowBytes, KernelSource.Rows rows) {
        SampleTransform transform = SampleTransform.compile(Bench.TO_HALF, Dtype.parse("|u1"), new long[] {rowBytes});
        return SampleKernel.of(transform, rows).orElseThrow();
    }

    private static DeviceMemory filled(Bench bench, long byteSize) {
        DeviceMemory memory = bench.device().allocateDevice(byteSize);
        int piece = (int) Math.min(byteSize, 16 << 20);
        try (HostMemory noise = bench.device().allocate(piece)) {
            SplittableRandom random = new SplittableRandom(1);
            for (int at = 0; at + Long.BYTES <= piece; at += Long.BYTES) {
                noise.bytes().putLong(at, random.nextLong());
            }
            for (long at = 0; at < byteSize; at += piece) {
                bench.device().uploads().upload(noise, 0, memory, at, Math.min(piece, byteSize - at));
            }
            Timing.spin(bench.device().uploads().fence());
        }
        return memory;
    }

    private static DeviceMemory control(Bench bench, SampleKernel kernel, int samples, long rows) {
        long byteSize = (long) samples * kernel.controlInts() * Integer.BYTES;
        DeviceMemory memory = bench.device().allocateDevice(byteSize);
        try (HostMemory host = bench.device().allocate(byteSize)) {
            UnsafeBuffer target = new UnsafeBuffer(host.bytes());
            TransformScratch scratch = kernel.transform().newScratch();
            SplittableRandom random = new SplittableRandom(2);
            for (int i = 0; i < samples; i++) {
                kernel.writeControl(random.nextLong(rows), 0, 0, i, scratch, target, i);
            }
            bench.device().uploads().upload(host, 0, memory, 0, byteSize);
            Timing.spin(bench.device().uploads().fence());
        }
        return memory;
    }

    /** Compares uploads and kernels in sequence with uploads and kernels in parallel. */
    static void overlap(Bench bench) throws Exception {
        int rowBytes = 3_072;
        int samples = (int) (bench.scale().batchBytes() / rowBytes);
        try (Slots slots = new Slots(bench, rowBytes, samples)) {
            double uploads = Timing.nanosPerRun(bench.scale(), () -> slots.run(true, false));
            double kernels = Timing.nanosPerRun(bench.scale(), () -> slots.run(false, true));
            double both = Timing.nanosPerRun(bench.scale(), () -> slots.run(true, true));
            double hidden = (uploads + kernels - both) / Math.min(uploads, kernels);
            bench.report()
                    .add(Measurement.of("overlap", "of uploads and kernels, batches of 3 KB rows", hidden, "")
                            .beside(1, "the shorter one is hidden completely")
                            .atLeast(0.9, bench.isNvidia())
                            .noted(String.format(
                                    java.util.Locale.ROOT,
                                    "a batch: upload %.0f us, kernel %.0f us, both %.0f us",
                                    uploads / ROUNDS / 1e3,
                                    kernels / ROUNDS / 1e3,
                                    both / ROUNDS / 1e3)));
        }
    }

    /** Slots like those of a loader, used in turn. */
    private static final class Slots implements AutoCloseable {
        private final Bench bench;
        private final HostMemory[] host = new HostMemory[SLOTS];
        private final DeviceMemory[] stored = new DeviceMemory[SLOTS];
        private final DeviceMemory[] made = new DeviceMemory[SLOTS];
        private final DeviceKernel.Call[] calls = new DeviceKernel.Call[SLOTS];
        private final long byteSize;
        private final int samples;

        Slots(Bench bench, int rowBytes, int samples) {
            this.bench = bench;
            this.samples = samples;
            this.byteSize = (long) samples * rowBytes;
            SampleKernel kernel = kernel(rowBytes, KernelSource.Rows.staged());
            for (int i = 0; i < SLOTS; i++) {
                host[i] = bench.device().allocate(byteSize);
                stored[i] = bench.device().allocateDevice(byteSize);
                made[i] = bench.device().allocateDevice(byteSize * 2);
                calls[i] = bench.device().compile(kernel).bind(null, made[i], List.of(stored[i]));
            }
        }

        void run(boolean uploads, boolean kernels) {
            Fence[] computed = new Fence[SLOTS];
            java.util.Arrays.fill(computed, Fence.passed());
            Fence last = Fence.passed();
            for (int round = 0; round < ROUNDS; round++) {
                int slot = round % SLOTS;
                Fence uploaded = Fence.passed();
                if (uploads) {
                    WorkQueue queue = bench.device().uploads();
                    queue.waitFor(computed[slot]);
                    queue.upload(host[slot], 0, stored[slot], 0, byteSize);
                    uploaded = queue.fence();
                }
                if (kernels) {
                    WorkQueue queue = bench.device().kernels();
                    queue.waitFor(uploaded);
                    queue.launch(calls[slot], samples);
                    computed[slot].close();
                    computed[slot] = queue.fence();
                }
                last.close();
                last = uploaded;
            }
            Timing.spin(last);
            for (Fence fence : computed) {
                Timing.spin(fence);
            }
        }

        @Override
        public void close() {
            for (int i = 0; i < SLOTS; i++) {
                calls[i].close();
                made[i].close();
                stored[i].close();
                host[i].close();
            }
        }
    }
}
