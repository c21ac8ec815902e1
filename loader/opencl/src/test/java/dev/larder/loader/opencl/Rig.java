package dev.larder.loader.opencl;

import dev.larder.loader.device.DeviceBackend;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceKernel;
import dev.larder.loader.device.DeviceMemory;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import dev.larder.loader.device.HostMemory;
import dev.larder.loader.device.KernelSource;
import dev.larder.loader.internal.transform.SampleKernel;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.transform.Transforms;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** Batches of {@link #SAMPLES} rows on the first device: staged, uploaded, copied by a kernel, read back. */
final class Rig implements AutoCloseable {
    static final int SAMPLES = 40;
    static final Duration SOON = Duration.ofSeconds(20);

    final DeviceBackend backend;
    final int rowBytes;
    final int byteSize;
    final HostMemory staging;
    final DeviceMemory stored;
    final DeviceMemory target;
    final DeviceKernel.Call call;

    Rig(DeviceBackend backend, int rowBytes) {
        this.backend = backend;
        this.rowBytes = rowBytes;
        this.byteSize = rowBytes * SAMPLES;
        this.staging = backend.allocate(byteSize);
        this.stored = backend.allocateDevice(byteSize);
        this.target = backend.allocateDevice(byteSize);
        this.call = backend.compile(copy(rowBytes, KernelSource.Rows.staged())).bind(null, target, List.of(stored));
    }

    static Rig open() {
        return new Rig(openBackend(OpenClOptions.DEFAULT), 100);
    }

    static DeviceBackend openBackend(OpenClOptions options) {
        return OpenClDevice.of(info()).with(options.withPoison()).open();
    }

    static DeviceInfo info() {
        return new OpenClProvider().devices().get(0);
    }

    /** Returns a kernel that leaves rows as they are. */
    static SampleKernel copy(int rowBytes, KernelSource.Rows rows) {
        SampleTransform transform =
                SampleTransform.compile(Transforms.none(), Dtype.parse("|u1"), new long[] {rowBytes});
        return SampleKernel.of(transform, rows).orElseThrow();
    }

    static byte[] random(int byteSize, long seed) {
        byte[] bytes = new byte[byteSize];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** Stages rows and gives the device all it has to do with them; the fence is passed when the kernel is done. */
    Fence submit(byte[] rows) {
        staging.bytes().put(0, rows);
        backend.uploads().upload(staging, 0, stored, 0, rows.length);
        pass(backend.uploads(), backend.kernels());
        backend.kernels().launch(call, SAMPLES);
        return backend.kernels().fence();
    }

    /** Has a queue wait for another. */
    static void pass(DeviceQueue first, DeviceQueue second) {
        try (Fence between = first.fence()) {
            second.waitFor(between);
        }
    }

    byte[] run(byte[] rows) {
        try (Fence done = submit(rows)) {
            backend.consumer().waitFor(done);
        }
        return read(target);
    }

    byte[] read(DeviceMemory memory) {
        return read(backend, memory);
    }

    static byte[] read(DeviceBackend backend, DeviceMemory memory) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(Math.toIntExact(memory.byteSize()));
        backend.consumer().read(memory, 0, bytes);
        byte[] read = new byte[bytes.capacity()];
        bytes.get(0, read);
        return read;
    }

    @Override
    public void close() {
        call.close();
        target.close();
        stored.close();
        staging.close();
        backend.close();
    }
}
