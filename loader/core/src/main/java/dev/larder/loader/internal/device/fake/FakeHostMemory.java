package dev.larder.loader.internal.device.fake;

import dev.larder.loader.internal.device.HostMemory;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/** Host memory for a fake device. Use after closing fails; a real device would read undefined bytes. */
final class FakeHostMemory implements HostMemory {
    private final FakeDevice device;
    private final HostMemory memory;
    private final AtomicBoolean closed = new AtomicBoolean();

    FakeHostMemory(FakeDevice device, long byteSize) {
        this.device = device;
        this.memory = HostMemory.allocate(byteSize);
        device.live.incrementAndGet();
    }

    @Override
    public ByteBuffer bytes() {
        if (closed.get()) {
            throw new IllegalStateException("host memory is closed");
        }
        return memory.bytes();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            device.live.decrementAndGet();
        }
    }
}
