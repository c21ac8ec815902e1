package dev.larder.loader.internal.device.fake;

import dev.larder.loader.internal.device.DeviceMemory;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Memory of a fake device. Use after closing fails; a real device would crash. */
final class FakeMemory implements DeviceMemory {
    private static final byte POISON = (byte) 0xa5;

    private final FakeDevice device;
    private final ByteBuffer bytes;
    private final long counted;
    private final AtomicBoolean closed = new AtomicBoolean();

    private FakeMemory(FakeDevice device, ByteBuffer bytes, long counted) {
        this.device = device;
        this.bytes = bytes;
        this.counted = counted;
        device.live.incrementAndGet();
    }

    static FakeMemory allocate(FakeDevice device, int byteSize) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(byteSize);
        for (int i = 0; i < byteSize; i++) {
            bytes.put(i, POISON);
        }
        return new FakeMemory(device, bytes, byteSize);
    }

    static FakeMemory sharing(FakeDevice device, ByteBuffer pages) {
        return new FakeMemory(device, pages, 0);
    }

    ByteBuffer bytes() {
        if (closed.get()) {
            throw new IllegalStateException("device memory is closed");
        }
        return bytes;
    }

    @Override
    public long byteSize() {
        return bytes.capacity();
    }

    @Override
    public long handle() {
        return System.identityHashCode(this);
    }

    @Override
    public @Nullable Object nativeObject() {
        return null;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            device.used.addAndGet(-counted);
            device.live.decrementAndGet();
        }
    }
}
