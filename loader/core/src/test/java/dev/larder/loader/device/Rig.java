package dev.larder.loader.device;

import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.transform.SampleKernel;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** Batches of {@link #SAMPLES} rows on a device: staged, uploaded, copied by a kernel, read back. */
public final class Rig implements AutoCloseable {
    public static final int SAMPLES = 40;
    public static final Duration SOON = Duration.ofSeconds(20);

    public final DeviceBackend backend;
    public final int rowBytes;
    public final int byteSize;
    public final HostMemory staging;
    public final DeviceMemory stored;
    public final DeviceMemory target;
    public final DeviceKernel.Call call;

    public Rig(DeviceBackend backend, int rowBytes) {
        this.backend = backend;
        this.rowBytes = rowBytes;
        this.byteSize = rowBytes * SAMPLES;
        this.staging = backend.allocate(byteSize);
        this.stored = backend.allocateDevice(byteSize);
        this.target = backend.allocateDevice(byteSize);
        this.call = backend.compile(copy(rowBytes, KernelSource.Rows.staged())).bind(null, target, List.of(stored));
    }

    /** Returns a kernel that leaves rows as they are. */
    public static SampleKernel copy(int rowBytes, KernelSource.Rows rows) {
        SampleTransform transform = SampleTransform.compile(new Transform(), Dtype.parse("|u1"), new long[] {rowBytes});
        return SampleKernel.of(transform, rows).orElseThrow();
    }

    public static byte[] random(int byteSize, long seed) {
        byte[] bytes = new byte[byteSize];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** Stages rows and gives the device all it has to do with them; the fence is passed when the kernel is done. */
    public Fence submit(byte[] rows) {
        staging.bytes().put(0, rows);
        backend.uploads().upload(staging, 0, stored, 0, rows.length);
        pass(backend.uploads(), backend.kernels());
        backend.kernels().launch(call, SAMPLES);
        return backend.kernels().fence();
    }

    /** Has a queue wait for another. */
    public static void pass(DeviceQueue first, DeviceQueue second) {
        try (Fence between = first.fence()) {
            second.waitFor(between);
        }
    }

    public byte[] run(byte[] rows) {
        try (Fence done = submit(rows)) {
            backend.consumer().waitFor(done);
        }
        return read(target);
    }

    public byte[] read(DeviceMemory memory) {
        return read(backend, memory);
    }

    public static byte[] read(DeviceBackend backend, DeviceMemory memory) {
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
