package dev.larder.loader.internal.device.fake;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.OpenableDevice;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A simulated device with its own memory, asynchronous queues and faults on demand.
 *
 * <pre>{@code
 * FakeDevice device = new FakeDevice().latency(Duration.ofMillis(2)).failOperation(7);
 * loaderBuilder.device(device)
 * }</pre>
 *
 * <p>It runs kernels by {@link dev.larder.loader.internal.device.KernelSource#run}. Configure it before opening it. It may be opened
 * several times; the counters cover all of them.
 */
public final class FakeDevice implements OpenableDevice {
    private static final long NEVER = -1;

    private long memoryBytes = 1L << 30;
    private long maxAllocationBytes = 1L << 30;
    private double bytesPerNano = Double.POSITIVE_INFINITY;
    private long latencyNanos;
    private long failAt = NEVER;
    private long loseAt = NEVER;
    private long failAllocationAt = NEVER;
    private long failCallAt = NEVER;
    private volatile boolean held;
    private boolean unifiedMemory;
    private boolean orHost;
    private long jitterNanos;
    private long seed;

    /** The number of objects not yet closed: memory, bound kernels, fences, queues. */
    final AtomicInteger live = new AtomicInteger();

    /** The number of bytes allocated and not yet closed. */
    final AtomicLong used = new AtomicLong();

    private final AtomicLong operations = new AtomicLong();
    private final AtomicLong allocations = new AtomicLong();
    private final AtomicLong calls = new AtomicLong();
    private final List<FakeBackend> opened = new CopyOnWriteArrayList<>();

    /** Sets the size of its memory and the maximum size of one allocation, in bytes. */
    public FakeDevice memory(long bytes, long maxAllocation) {
        memoryBytes = bytes;
        maxAllocationBytes = maxAllocation;
        return this;
    }

    /** Sets the speed of copies. */
    public FakeDevice bandwidth(long bytesPerSecond) {
        bytesPerNano = bytesPerSecond / 1e9;
        return this;
    }

    /** Sets the fixed time of every operation, in addition to the time for its bytes. */
    public FakeDevice latency(Duration each) {
        latencyNanos = each.toNanos();
        return this;
    }

    /** Delays each fence by a random time up to {@code most}, so that fences pass in another order. */
    public FakeDevice jitter(Duration most, long newSeed) {
        jitterNanos = most.toNanos();
        seed = newSeed;
        return this;
    }

    /** Makes an operation fail, counted from 0 over all queues. Operations that wait for it fail as well. */
    public FakeDevice failOperation(long number) {
        failAt = number;
        return this;
    }

    /** Makes an operation never end, counted as in {@link #failOperation}. */
    public FakeDevice loseOperation(long number) {
        loseAt = number;
        return this;
    }

    /** Makes an allocation fail with {@code NO_SPACE}, counted from 0, host memory included. */
    public FakeDevice failAllocation(long number) {
        failAllocationAt = number;
        return this;
    }

    /** Makes a call to submit an operation fail, counted from 0 over all queues. */
    public FakeDevice failCall(long number) {
        failCallAt = number;
        return this;
    }

    /** Stops the consumer's queue until {@link #go}. */
    public FakeDevice hold() {
        held = true;
        return this;
    }

    /** Lets the consumer's queue continue after {@link #hold}. */
    public void go() {
        held = false;
    }

    /** Makes it use host memory, so that rows are shared instead of uploaded. */
    public FakeDevice unifiedMemory() {
        unifiedMemory = true;
        return this;
    }

    /** Lets batches stay on the host if the device has too little memory. */
    public FakeDevice orHost() {
        orHost = true;
        return this;
    }

    /** Returns the number of objects not yet closed. */
    public int liveObjects() {
        return live.get();
    }

    /** Returns the number of allocated bytes. */
    public long usedBytes() {
        return used.get();
    }

    @Override
    public DeviceBackend open() {
        DeviceInfo info = new DeviceInfo(
                "fake",
                0,
                "fake device",
                "accelerator",
                "Java",
                "1",
                memoryBytes,
                maxAllocationBytes,
                1,
                unifiedMemory,
                true,
                true);
        FakeBackend backend = new FakeBackend(this, info);
        opened.add(backend);
        return backend;
    }

    /** Ends all open queues with their work, like a restart of the driver. */
    public void reset() {
        opened.forEach(FakeBackend::close);
    }

    @Override
    public boolean fallsBackToHost() {
        return orHost;
    }

    /** The outcome of an operation. */
    enum Fate {
        DONE,
        FAILED,
        LOST
    }

    Fate next() {
        long number = operations.getAndIncrement();
        return number == failAt ? Fate.FAILED : number == loseAt ? Fate.LOST : Fate.DONE;
    }

    /** Fails if {@link #failAllocation} selects this allocation. */
    void allocate(long byteSize) {
        if (byteSize < 1) {
            throw new IllegalArgumentException("at least one byte: byteSize=" + byteSize);
        }
        if (allocations.getAndIncrement() == failAllocationAt) {
            throw Failure.of(ErrorCode.NO_SPACE, "device has too little memory")
                    .with("wanted", byteSize)
                    .remedy("the test requested this failure with failAllocation(…)");
        }
    }

    /** Fails if {@link #failCall} selects this call. */
    void call() {
        if (calls.getAndIncrement() == failCallAt) {
            throw Failure.of(ErrorCode.UNEXPECTED, "call of a device failed")
                    .with("code", "FAKE_REFUSED")
                    .remedy("the test requested this failure with failCall(…)");
        }
    }

    /** Waits while the consumer's queue is on hold. */
    void awaitGo() throws InterruptedException {
        while (held) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            LockSupport.parkNanos(this, 100_000);
        }
    }

    /** Sleeps for the time of an operation with this many bytes, less if the thread is interrupted. */
    void work(long bytes) {
        long until = System.nanoTime() + latencyNanos + (long) (bytes / bytesPerNano);
        while (System.nanoTime() < until && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(this, until - System.nanoTime());
        }
    }

    /** Returns the random delay of a fence, in nanoseconds. */
    long lateness(long fence) {
        return jitterNanos == 0 ? 0 : (long) (new Random(seed + fence).nextDouble() * jitterNanos);
    }

    @Override
    public String toString() {
        return "fake device";
    }
}
