package dev.larder.bench.gpu;

import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.WorkQueue;

/** Measures uploads from locked memory by size, with the driver's own as the limit; the locking of pages; copies in the device. */
final class UploadPart {
    private static final String PART = "upload";
    private static final int SHORTEST = 4 << 10;
    private static final int LONG = 16 << 20;
    private static final int STEP = 4;

    private UploadPart() {}

    static void run(Bench bench) throws Exception {
        copies(bench);
        long most = bench.scale().mostUploadBytes();
        long start = System.nanoTime();
        try (HostMemory host = bench.device().allocate(most)) {
            double rate = most / (double) (System.nanoTime() - start);
            bench.report().add(Measurement.of(PART, "lock pages and clear them, " + size(most), rate, "GB/s"));
            fill(host);
            try (DeviceMemory target = bench.device().allocateDevice(most)) {
                for (long bytes = SHORTEST; bytes <= most; bytes *= STEP) {
                    upload(bench, host, target, bytes);
                }
            }
        }
    }

    private static void copies(Bench bench) throws Exception {
        long bytes = bench.scale().mostUploadBytes();
        double byKernel = bench.raw().copyRate(bench.scale(), bytes);
        bench.limits().copy = byKernel;
        bench.report().add(Measurement.of("copy", "plain OpenCL kernel, read and written", byKernel, "GB/s"));
        if (bench.cuda().isPresent()) {
            Cuda cuda = bench.cuda().get();
            long from = cuda.allocateDevice(bytes);
            long to = cuda.allocateDevice(bytes);
            int times = 4;
            double rate = Timing.gigabytesPerSecond(
                    bench.scale(), 2 * bytes * times, () -> cuda.copy(to, from, bytes, times));
            cuda.free();
            bench.limits().copy = Math.max(rate, byKernel);
            bench.report().add(Measurement.of("copy", "cuMemcpyDtoD, read and written", rate, "GB/s"));
        }
    }

    private static void fill(HostMemory host) {
        for (int at = 0; at + Integer.BYTES <= host.bytes().capacity(); at += Integer.BYTES) {
            host.bytes().putInt(at, at * 0x9E3779B9);
        }
    }

    private static void upload(Bench bench, HostMemory host, DeviceMemory target, long bytes) throws Exception {
        int times = times(bytes);
        WorkQueue queue = bench.device().uploads();
        double own = Timing.gigabytesPerSecond(bench.scale(), bytes * times, () -> {
            for (int i = 0; i < times; i++) {
                queue.upload(host, 0, target, 0, bytes);
            }
            Timing.spin(queue.fence());
        });
        double limit = limit(bench, bytes, times);
        String name = bench.cuda().isPresent() ? "cuMemcpyHtoDAsync" : "plain clEnqueueWriteBuffer, blocking";
        if (bytes == LONG) {
            bench.limits().upload = limit;
        }
        Measurement measurement = Measurement.of(PART, "locked memory, " + size(bytes), own, "GB/s")
                .beside(limit, name);
        bench.report().add(bytes >= LONG ? measurement.atLeast(0.95, bench.isNvidia()) : measurement);
    }

    private static double limit(Bench bench, long bytes, int times) throws Exception {
        if (bench.cuda().isPresent()) {
            return ofCuda(bench.cuda().get(), bench.scale(), bytes).value();
        }
        RawOpenCl.Locked from = bench.raw().allocateLocked(bytes);
        var to = bench.raw().allocate(bytes);
        double rate = Timing.gigabytesPerSecond(bench.scale(), bytes * times, () -> {
            for (int i = 0; i < times; i++) {
                bench.raw().write(to, from.bytes(), bytes);
            }
        });
        bench.raw().free();
        return rate;
    }

    /** Measures the driver's own upload from locked memory. */
    static Measurement ofCuda(Cuda cuda, Scale scale, long bytes) throws Exception {
        long from = cuda.allocateHost(bytes);
        long to = cuda.allocateDevice(bytes);
        int times = times(bytes);
        double rate = Timing.gigabytesPerSecond(scale, bytes * times, () -> cuda.upload(to, from, bytes, times));
        cuda.free();
        return Measurement.of(PART, "cuMemcpyHtoDAsync, " + size(bytes), rate, "GB/s");
    }

    /** Returns the number of uploads in one run, so many that the wait at its end is negligible. */
    private static int times(long bytes) {
        return (int) Math.max(4, Math.min(64, (LONG / 4) / bytes));
    }

    static String size(long bytes) {
        return bytes >= 1 << 20 ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
    }
}
