package dev.larder.bench.gpu;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.loader.device.DeviceMemory;
import dev.larder.loader.device.HostMemory;
import java.nio.ByteBuffer;
import org.jocl.cl_mem;

/** Ways to bring the same bytes to the device, the loader's among them; and what locking the store's own pages would bring. */
final class WriteStylePart {
    private static final String PART = "writing";
    private static final String DATASET = "writing";

    private WriteStylePart() {}

    static void run(Bench bench) throws Exception {
        long bytes = bench.scale().batchBytes();
        try (Dataset dataset = bench.store().publishRows(DATASET, bench.scale().arrayBytes(), 4096);
                ArrayView shared = dataset.array(SyntheticStore.ARRAY)) {
            cl_mem to = bench.raw().allocate(bytes);
            own(bench, bytes);
            RawOpenCl.Locked locked = bench.raw().allocateLocked(bytes);
            add(bench, bytes, "locked, JOCL blocking write", () -> bench.raw().write(to, locked.bytes(), bytes));
            add(
                    bench,
                    bytes,
                    "locked, copied from its buffer",
                    () -> bench.raw().copyBuffer(locked.buffer(), to, bytes));
            ByteBuffer plain = ByteBuffer.allocateDirect((int) bytes);
            plain.put(0, locked.bytes(), 0, (int) bytes);
            add(bench, bytes, "pageable, JOCL blocking write", () -> bench.raw().write(to, plain, bytes));
            ByteBuffer pages = shared.dataBuffer(0, (int) bytes).slice();
            add(
                    bench,
                    bytes,
                    "the store's pages, blocking write",
                    () -> bench.raw().write(to, pages, bytes));
            cl_mem wrapped = bench.raw().wrap(pages);
            add(
                    bench,
                    bytes,
                    "the store's pages as USE_HOST_PTR, copied",
                    () -> bench.raw().copyBuffer(wrapped, to, bytes));
            registered(bench, shared, pages, to);
            bench.raw().free();
        }
        bench.store().remove(DATASET);
    }

    private static void own(Bench bench, long bytes) throws Exception {
        try (HostMemory host = bench.device().allocate(bytes);
                DeviceMemory target = bench.device().allocateDevice(bytes)) {
            add(bench, bytes, "locked, as the loader does (JNA)", () -> {
                bench.device().uploads().upload(host, 0, target, 0, bytes);
                Timing.spin(bench.device().uploads().fence());
            });
        }
    }

    private static void registered(Bench bench, ArrayView shared, ByteBuffer pages, cl_mem to) throws Exception {
        String what = "the store's pages, registered";
        if (bench.cuda().isEmpty()) {
            bench.report().add(Finding.notApplicable(PART, what, "no libcuda"));
            return;
        }
        Cuda cuda = bench.cuda().get();
        long all = shared.byteSize() / 4096 * 4096;
        long start = System.nanoTime();
        int result = cuda.register(shared.address(), all, Cuda.PORTABLE_READ_ONLY);
        long taken = System.nanoTime() - start;
        if (result != 0) {
            bench.report()
                    .add(Finding.notApplicable(PART, what, "cuMemHostRegister refused read-only pages: " + result));
            return;
        }
        long bytes = bench.scale().batchBytes();
        bench.report()
                .add(Finding.of(
                        PART, "register the store's pages, " + UploadPart.size(all), all / (double) taken, "GB/s"));
        add(bench, bytes, what + ", blocking write", () -> bench.raw().write(to, pages, bytes));
        long target = cuda.allocateDevice(bytes);
        double rate = Timing.gigabytesPerSecond(
                bench.scale(), bytes * 4, () -> cuda.upload(target, shared.address(), bytes, 4));
        bench.report()
                .add(Finding.of(PART, what + ", cuMemcpyHtoDAsync", rate, "GB/s")
                        .beside(bench.limits().upload, "locked upload"));
        cuda.free();
        cuda.unregister(shared.address());
    }

    private static void add(Bench bench, long bytes, String what, Timing.Work work) throws Exception {
        double rate = Timing.gigabytesPerSecond(bench.scale(), bytes, work);
        bench.report()
                .add(Finding.of(PART, what + ", " + UploadPart.size(bytes), rate, "GB/s")
                        .beside(bench.limits().upload, "locked upload"));
    }
}
