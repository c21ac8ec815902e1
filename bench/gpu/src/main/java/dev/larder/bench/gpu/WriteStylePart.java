package dev.larder.bench.gpu;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.loader.internal.cuda.PageLocking;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import java.nio.ByteBuffer;
import org.agrona.BufferUtil;
import org.jocl.cl_mem;

/** Compares ways to upload the same bytes, including the loader's, and measures uploads from pages that CUDA has locked. */
final class WriteStylePart {
    private static final String PART = "writing";
    private static final int PAGE_BYTES = 4096;
    private static final int TIMES = 4;

    private WriteStylePart() {}

    static void run(Bench bench) throws Exception {
        try (Dataset dataset = bench.store().publishRows(PART, bench.scale().arrayBytes(), PAGE_BYTES)) {
            ArrayView shared = dataset.array(SyntheticStore.ARRAY);
            plain(bench, shared);
            if (bench.cuda().isPresent()) {
                registered(bench, bench.cuda().get(), shared);
                slots(bench, bench.cuda().get());
            } else {
                bench.report().add(Measurement.notApplicable(PART, "pages locked through CUDA", "no libcuda"));
            }
        } finally {
            bench.raw().free();
            bench.store().remove(PART);
        }
    }

    private static void plain(Bench bench, ArrayView shared) throws Exception {
        long bytes = bench.scale().batchBytes();
        RawOpenCl raw = bench.raw();
        cl_mem to = raw.allocate(bytes);
        own(bench, bytes);
        RawOpenCl.Locked locked = raw.allocateLocked(bytes);
        add(bench, "locked, JOCL blocking write", () -> raw.write(to, locked.bytes(), bytes));
        add(bench, "locked, copied from its buffer", () -> raw.copyBuffer(locked.buffer(), to, bytes));
        ByteBuffer pageable = ByteBuffer.allocateDirect((int) bytes);
        pageable.put(0, locked.bytes(), 0, (int) bytes);
        add(bench, "pageable, JOCL blocking write", () -> raw.write(to, pageable, bytes));
        ByteBuffer pages = shared.dataBuffer(0, (int) bytes).slice();
        add(bench, "the store's pages, blocking write", () -> raw.write(to, pages, bytes));
        cl_mem[] wrapped = new cl_mem[1];
        add(bench, "the store's pages as USE_HOST_PTR, copied", () -> {
            if (wrapped[0] == null) {
                wrapped[0] = raw.wrap(pages);
            }
            raw.copyBuffer(wrapped[0], to, bytes);
        });
    }

    private static void own(Bench bench, long bytes) throws Exception {
        try (HostMemory host = bench.device().allocate(bytes);
                DeviceMemory target = bench.device().allocateDevice(bytes)) {
            add(bench, "locked, as the loader does", () -> {
                bench.device().uploads().upload(host, 0, target, 0, bytes);
                Timing.spin(bench.device().uploads().fence());
            });
        }
    }

    private static void registered(Bench bench, Cuda cuda, ArrayView shared) throws Exception {
        long all = shared.byteSize() / PAGE_BYTES * PAGE_BYTES;
        long bytes = bench.scale().batchBytes();
        long start = System.nanoTime();
        int result = cuda.register(shared.address(), all, Cuda.PORTABLE_READ_ONLY);
        double rate = all / (double) (System.nanoTime() - start);
        if (result != 0) {
            bench.report()
                    .add(Measurement.notApplicable(
                            PART, "the store's pages, registered", "refused: cuMemHostRegister error " + result));
            return;
        }
        try {
            bench.report()
                    .add(Measurement.of(PART, "register the store's pages, " + UploadPart.size(all), rate, "GB/s"));
            cl_mem to = bench.raw().allocate(bytes);
            ByteBuffer pages = shared.dataBuffer(0, (int) bytes).slice();
            add(
                    bench,
                    "the store's pages, registered, blocking write",
                    () -> bench.raw().write(to, pages, bytes));
            byCuda(bench, cuda, "the store's pages, registered", shared.address());
        } finally {
            cuda.unregister(shared.address());
        }
    }

    /** Measures memory as in a loader's slots with {@code pinMemory()}, which a framework uploads itself. */
    private static void slots(Bench bench, Cuda cuda) throws Exception {
        long bytes = bench.scale().mostUploadBytes();
        long start = System.nanoTime();
        try (HostMemory slot = PageLocking.open().allocate(bytes)) {
            double rate = bytes / (double) (System.nanoTime() - start);
            bench.report().add(Measurement.of(PART, "pinMemory(), allocate " + UploadPart.size(bytes), rate, "GB/s"));
            byCuda(bench, cuda, "pinMemory()", BufferUtil.address(slot.bytes()));
        }
    }

    private static void byCuda(Bench bench, Cuda cuda, String what, long from) throws Exception {
        long bytes = bench.scale().batchBytes();
        long to = cuda.allocateDevice(bytes);
        double rate =
                Timing.gigabytesPerSecond(bench.scale(), bytes * TIMES, () -> cuda.upload(to, from, bytes, TIMES));
        cuda.free();
        report(bench, what + ", cuMemcpyHtoDAsync", rate);
    }

    /** Measures uploads of a large batch; reports "not applicable" if the driver refuses. */
    private static void add(Bench bench, String what, Timing.Work work) throws Exception {
        try {
            report(
                    bench,
                    what,
                    Timing.gigabytesPerSecond(bench.scale(), bench.scale().batchBytes(), work));
        } catch (IllegalStateException e) {
            bench.report().add(Measurement.notApplicable(PART, what, "refused: " + e.getMessage()));
        }
    }

    private static void report(Bench bench, String what, double rate) {
        bench.report()
                .add(Measurement.of(
                                PART,
                                what + ", " + UploadPart.size(bench.scale().batchBytes()),
                                rate,
                                "GB/s")
                        .beside(bench.limits().upload, "locked upload"));
    }
}
