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
 * A simulated device: memory of its own, queues that work later than they are told to, and every fault on demand.
 *
 * <pre>{@code
 * FakeDevice device = new FakeDevice().latency(Duration.ofMillis(2)).failOperation(7);
 * loaderBuilder.device(device)
 * }</pre>
 *
 * <p>It does what kernels declare by {@link dev.larder.loader.internal.device.KernelSource#run}. Set up before it is opened; may be opened
 * several times, the counters are those of all together.
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
    private boolean doubles = true;
    private boolean orHost;
    private long jitterNanos;
    private long seed;

    /** Objects that were made and not closed: memory, bound kernels, fences, queues. */
    final AtomicInteger live = new AtomicInteger();

    /** Bytes of memory that were allocated and not closed. */
    final AtomicLong used = new AtomicLong();

    private final AtomicLong operations = new AtomicLong();
    private final AtomicLong allocations = new AtomicLong();
    private final AtomicLong calls = new AtomicLong();
    private final List<FakeBackend> opened = new CopyOnWriteArrayList<>();

    /** Sets its memory, and the most that one piece of it can have. */
    public FakeDevice memory(long bytes, long maxAllocation) {
        memoryBytes = bytes;
        maxAllocationBytes = maxAllocation;
        return this;
    }

    /** Sets how fast copies are. */
    public FakeDevice bandwidth(long bytesPerSecond) {
        bytesPerNano = bytesPerSecond / 1e9;
        return this;
    }

    /** Sets how long every operation takes, besides its bytes. */
    public FakeDevice latency(Duration each) {
        latencyNanos = each.toNanos();
        return this;
    }

    /** Lets fences seem passed only some time after they are, at random up to this: so they pass in another order. */
    public FakeDevice jitter(Duration most, long newSeed) {
        jitterNanos = most.toNanos();
        seed = newSeed;
        return this;
    }

    /** Lets an operation fail, counted from 0 over all queues: what waits for it fails as well. */
    public FakeDevice failOperation(long number) {
        failAt = number;
        return this;
    }

    /** Lets an operation never end. */
    public FakeDevice loseOperation(long number) {
        loseAt = number;
        return this;
    }

    /** Lets an allocation fail for want of memory, counted from 0, those of the host included. */
    public FakeDevice failAllocation(long number) {
        failAllocationAt = number;
        return this;
    }

    /** Lets a queue refuse to take an operation, counted from 0 over all queues. */
    public FakeDevice failCall(long number) {
        failCallAt = number;
        return this;
    }

    /** Lets the consumer's queue stand still until {@link #go}: whatever it was given. */
    public FakeDevice hold() {
        held = true;
        return this;
    }

    /** Lets the consumer's queue go on. */
    public void go() {
        held = false;
    }

    /** Lets it work in the memory of the host: rows that stay there are shared. */
    public FakeDevice unifiedMemory() {
        unifiedMemory = true;
        return this;
    }

    /** Takes away 64-bit floats. */
    public FakeDevice withoutDoubles() {
        doubles = false;
        return this;
    }

    /** Lets batches stay on the host where there is too little memory. */
    public FakeDevice orHost() {
        orHost = true;
        return this;
    }

    /** Returns how many objects were made and not closed yet. */
    public int liveObjects() {
        return live.get();
    }

    /** Returns how many bytes of its memory are allocated. */
    public long usedBytes() {
        return used.get();
    }

    /** Returns how many operations its queues were given. */
    public long operations() {
        return operations.get();
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
                doubles,
                true);
        FakeBackend backend = new FakeBackend(this, info);
        opened.add(backend);
        return backend;
    }

    /** Ends the queues of everything that is open, whatever they do: as a driver does that starts anew. */
    public void reset() {
        opened.forEach(FakeBackend::close);
    }

    @Override
    public boolean fallsBackToHost() {
        return orHost;
    }

    /** What becomes of an operation. */
    enum Fate {
        DONE,
        FAILED,
        LOST
    }

    Fate next() {
        long number = operations.getAndIncrement();
        return number == failAt ? Fate.FAILED : number == loseAt ? Fate.LOST : Fate.DONE;
    }

    /** Fails if this allocation is to. */
    void allocate(long byteSize) {
        if (byteSize < 1) {
            throw new IllegalArgumentException("at least one byte: byteSize=" + byteSize);
        }
        if (allocations.getAndIncrement() == failAllocationAt) {
            throw Failure.of(ErrorCode.NO_SPACE, "device has too little memory")
                    .with("wanted", byteSize)
                    .remedy("this is what was asked of the fake device");
        }
    }

    /** Fails if this call is to. */
    void call() {
        if (calls.getAndIncrement() == failCallAt) {
            throw Failure.of(ErrorCode.UNEXPECTED, "call of a device failed")
                    .with("code", "FAKE_REFUSED")
                    .remedy("this is what was asked of the fake device");
        }
    }

    /** Waits while the consumer's queue stands still. */
    void awaitGo() throws InterruptedException {
        while (held) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            LockSupport.parkNanos(this, 100_000);
        }
    }

    /** Takes as long as an operation with so many bytes; less where the thread is interrupted. */
    void work(long bytes) {
        long until = System.nanoTime() + latencyNanos + (long) (bytes / bytesPerNano);
        while (System.nanoTime() < until && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(this, until - System.nanoTime());
        }
    }

    /** Draws how late a fence is seen to be passed. */
    long lateness(long fence) {
        return jitterNanos == 0 ? 0 : (long) (new Random(seed + fence).nextDouble() * jitterNanos);
    }

    @Override
    public String toString() {
        return "fake device";
    }
}
