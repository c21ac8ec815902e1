package dev.larder.loader.internal.device.fake;

import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.KernelSource;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A kernel that runs in Java. */
record FakeKernel(FakeDevice device, KernelSource kernel) implements DeviceKernel {
    private static final ByteBuffer NO_CONTROL = ByteBuffer.allocateDirect(0);

    @Override
    public Call bind(@Nullable DeviceMemory control, DeviceMemory target, List<DeviceMemory> sources) {
        device.live.incrementAndGet();
        return new Bound(device, kernel, control, target, List.copyOf(sources), new AtomicBoolean());
    }

    record Bound(
            FakeDevice device,
            KernelSource kernel,
            @Nullable DeviceMemory control,
            DeviceMemory target,
            List<DeviceMemory> sources,
            AtomicBoolean closed)
            implements Call {
        void run(int samples) {
            if (closed.get()) {
                throw new IllegalStateException("kernel is closed");
            }
            ByteBuffer told = control == null ? NO_CONTROL : ((FakeMemory) control).bytes();
            List<ByteBuffer> stored = sources.stream()
                    .map(source -> ((FakeMemory) source).bytes())
                    .toList();
            kernel.run(samples, told, ((FakeMemory) target).bytes(), stored);
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                device.live.decrementAndGet();
            }
        }
    }
}
