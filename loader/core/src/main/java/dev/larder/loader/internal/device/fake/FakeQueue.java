package dev.larder.loader.internal.device.fake;

import dev.larder.internal.time.Deadline;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.WorkQueue;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Runs operations in order on its own thread. */
final class FakeQueue implements WorkQueue {
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(30);

    private final FakeDevice device;
    private final BlockingQueue<Operation> operations = new LinkedBlockingQueue<>();
    private final Thread thread;
    private final boolean consumers;
    private final AtomicLong fences = new AtomicLong();

    /** The first failure, which later operations inherit. Only for the queue's thread. */
    private @Nullable String failure;

    @FunctionalInterface
    private interface Operation {
        void run() throws InterruptedException;
    }

    FakeQueue(FakeDevice device, String name, boolean consumers) {
        this.device = device;
        this.consumers = consumers;
        this.thread = new Thread(this::work, "larder-fake-" + name);
        thread.setDaemon(true);
        thread.start();
        device.live.incrementAndGet();
    }

    private void work() {
        try {
            while (true) {
                Operation operation = operations.take();
                if (consumers) {
                    device.awaitGo();
                }
                operation.run();
            }
        } catch (InterruptedException e) {
            // the device is closed
        }
    }

    @Override
    public void upload(HostMemory from, long fromOffset, DeviceMemory to, long toOffset, long byteSize) {
        FakeMemory target = (FakeMemory) to;
        Objects.checkFromIndexSize(fromOffset, byteSize, from.bytes().capacity());
        Objects.checkFromIndexSize(toOffset, byteSize, target.byteSize());
        add(byteSize, () -> target.bytes().put((int) toOffset, from.bytes(), (int) fromOffset, (int) byteSize));
    }

    @Override
    public void launch(DeviceKernel.Call call, int samples) {
        FakeKernel.Bound bound = (FakeKernel.Bound) call;
        add(0, () -> bound.run(samples));
    }

    private void add(long byteSize, Runnable action) {
        device.call();
        FakeDevice.Fate fate = device.next();
        operations.add(() -> {
            device.work(byteSize);
            if (fate == FakeDevice.Fate.LOST) {
                Thread.currentThread().join(); // waits for an interrupt
            }
            if (fate == FakeDevice.Fate.FAILED) {
                failure = "FAKE_FAILED";
            }
            if (failure == null) {
                run(action);
            }
        });
    }

    private void run(Runnable action) {
        try {
            action.run();
        } catch (Throwable e) { // mostly use after closing
            failure = e.toString();
        }
    }

    @Override
    public void waitFor(Fence fence) {
        if (fence == Fence.passed()) {
            return;
        }
        if (!(fence instanceof FakeFence other)) {
            throw new IllegalArgumentException("fence belongs to another backend: fence=" + fence);
        }
        device.call();
        if (other.isReached() && other.failure() != null) {
            throw other.failed();
        }
        operations.add(() -> {
            while (!other.isReached()) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                LockSupport.parkNanos(this, TimeUnit.MICROSECONDS.toNanos(20));
            }
            failure = failure == null ? other.failure() : failure;
        });
    }

    @Override
    public Fence fence() {
        device.call();
        FakeFence fence = new FakeFence(device, fences.getAndIncrement());
        operations.add(() -> fence.pass(failure));
        return fence;
    }

    @Override
    public void read(DeviceMemory from, long fromOffset, ByteBuffer target) {
        FakeMemory source = (FakeMemory) from;
        int size = target.remaining();
        Objects.checkFromIndexSize(fromOffset, size, source.byteSize());
        int position = target.position();
        add(size, () -> target.put(position, source.bytes(), (int) fromOffset, size));
        try (Fence fence = fence()) {
            fence.await(READ_TIMEOUT);
        }
    }

    @Override
    public boolean drain(Duration timeout) {
        FakeFence end = new FakeFence(device, fences.getAndIncrement());
        operations.add(() -> end.pass(null));
        Deadline deadline = Deadline.after(timeout);
        while (!end.isReached() && !deadline.isOver()) {
            LockSupport.parkNanos(this, TimeUnit.MICROSECONDS.toNanos(100));
        }
        boolean reached = end.isReached();
        end.close();
        return reached;
    }

    @Override
    public @Nullable Object nativeObject() {
        return null;
    }

    void close() {
        thread.interrupt();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        device.live.decrementAndGet();
    }
}
