package dev.larder.loader.internal.device.fake;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.device.WorkQueue;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** An open fake device. */
final class FakeBackend implements DeviceBackend {
    private final FakeDevice device;
    private final DeviceInfo info;
    private final FakeQueue uploads;
    private final FakeQueue kernels;
    private final FakeQueue consumer;
    private final AtomicBoolean closed = new AtomicBoolean();

    FakeBackend(FakeDevice device, DeviceInfo info) {
        this.device = device;
        this.info = info;
        this.uploads = new FakeQueue(device, "uploads", false);
        this.kernels = new FakeQueue(device, "kernels", false);
        this.consumer = new FakeQueue(device, "consumer", true);
    }

    @Override
    public DeviceInfo info() {
        return info;
    }

    @Override
    public HostMemory allocate(long byteSize) {
        device.allocate(byteSize);
        return new FakeHostMemory(device, byteSize);
    }

    @Override
    public DeviceMemory allocateDevice(long byteSize) {
        device.allocate(byteSize);
        long used = device.used.addAndGet(byteSize);
        if (used > info.memoryBytes() || byteSize > info.maxAllocationBytes()) {
            device.used.addAndGet(-byteSize);
            throw Failure.of(ErrorCode.NO_SPACE, "device has too little memory")
                    .with("wanted", byteSize)
                    .with("used", used - byteSize)
                    .with("memory", info.memoryBytes())
                    .with("maxAllocation", info.maxAllocationBytes())
                    .remedy("give the fake device more");
        }
        return FakeMemory.allocate(device, Math.toIntExact(byteSize));
    }

    @Override
    public Optional<DeviceMemory> share(ByteBuffer pages) {
        return info.unifiedMemory() ? Optional.of(FakeMemory.sharing(device, pages)) : Optional.empty();
    }

    @Override
    public DeviceKernel compile(KernelSource kernel) {
        return new FakeKernel(device, kernel);
    }

    @Override
    public WorkQueue uploads() {
        return uploads;
    }

    @Override
    public WorkQueue kernels() {
        return kernels;
    }

    @Override
    public WorkQueue consumer() {
        return consumer;
    }

    @Override
    public boolean accepts(Fence fence) {
        return fence == Fence.passed() || (fence instanceof FakeFence own && own.isOf(device));
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            uploads.close();
            kernels.close();
            consumer.close();
        }
    }

    @Override
    public String toString() {
        return info.toString();
    }
}
