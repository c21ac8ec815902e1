package dev.larder.loader.internal.cuda;

import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.device.HostMemory;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;

/**
 * Allocates page-locked memory, so that a copy to any CUDA device of this process runs at the speed of the link,
 * without the driver's own buffers. It is Java's memory: it can be read as long as somebody holds its
 * buffer, also when its pages are no longer locked.
 *
 * <p>Takes part in the primary context of one device, which CUDA libraries of this process share: of the device that the opening
 * thread works with, else of number {@code $LOCAL_RANK}. It does so from the first memory to the last, so that there is nothing
 * to close but the memory. From any thread.
 */
public final class PageLocking implements HostAllocator {
    private static final Logger LOG = Logs.of(PageLocking.class);

    /** Drivers fail at very long ranges, and let other calls wait while they lock one. */
    static final long MAX_CHUNK_BYTES = 1L << 30;

    /** Locks for all contexts of the process. */
    static final int PORTABLE = 1;

    /** Keeps memory that nobody closes from being freed under the driver. */
    private static final Set<LockedMemory> LOCKED = ConcurrentHashMap.newKeySet();

    private final CudaDriver driver;
    private final int device;
    private final long chunkBytes;
    private final long[] context = new long[1];
    private int allocated;

    private PageLocking(CudaDriver driver, int device, long chunkBytes) {
        this.driver = driver;
        this.device = device;
        this.chunkBytes = chunkBytes;
    }

    /** Finds the CUDA driver and its devices. Fails with {@code NOT_FOUND} and the remedy if there is none. */
    public static PageLocking open() {
        return open(JnaCudaDriver.load(), System.getenv(), MAX_CHUNK_BYTES);
    }

    /** Locks for one of the driver's devices, which is initialized: with its handle, as {@code cuDeviceGet} returns it. */
    public static PageLocking on(int device) {
        return new PageLocking(JnaCudaDriver.load(), device, MAX_CHUNK_BYTES);
    }

    static PageLocking open(CudaDriver driver, Map<String, String> environment, long chunkBytes) {
        CudaCalls.require(driver, "cuInit", driver.initialize());
        int[] count = new int[1];
        CudaCalls.require(driver, "cuDeviceGetCount", driver.countDevices(count));
        if (count[0] == 0) {
            throw CudaCalls.failure(driver, "cuDeviceGetCount", CudaCalls.NO_DEVICE);
        }
        int[] device = new int[1];
        if (driver.currentDevice(device) != 0) {
            String rank = environment.getOrDefault("LOCAL_RANK", "").strip();
            int ordinal = rank.matches("[0-9]{1,9}") ? Integer.parseInt(rank) % count[0] : 0;
            CudaCalls.require(driver, "cuDeviceGet", driver.device(device, ordinal));
        }
        return new PageLocking(driver, device[0], chunkBytes);
    }

    /** Allocates zeroed memory and locks it, or fails and leaves nothing locked; see {@link HostAllocator}. */
    @Override
    public synchronized HostMemory allocate(long byteSize) {
        LockedMemory memory = new LockedMemory(this, HostMemory.allocate(byteSize));
        if (allocated == 0) {
            CudaCalls.require(driver, "cuDevicePrimaryCtxRetain", driver.retainContext(context, device));
        }
        allocated++;
        LOCKED.add(memory);
        try {
            withContext(() -> memory.lock(driver, chunkBytes));
        } catch (Throwable e) {
            leave(memory);
            throw e;
        }
        return memory;
    }

    /** Unlocks memory, whoever holds its buffer; what cannot be undone is logged. */
    synchronized void free(LockedMemory memory) {
        if (!LOCKED.contains(memory)) {
            return;
        }
        if (memory.isGivenUp()) {
            return;
        }
        try {
            unlock(memory);
            leave(memory);
        } catch (
                RuntimeException
                        e) { // so they must not be freed either: the driver would take what comes next for them
            memory.giveUp();
            LOG.warn(
                    "pages stay locked until the process ends: bytes={} reason={}",
                    memory.byteSize(),
                    Failure.words(e));
        }
    }

    private void unlock(LockedMemory memory) {
        int result = driver.pushContext(context[0]);
        if (result == CudaCalls.DEINITIALIZED) { // the process ends, and the driver has unlocked all
            return;
        }
        CudaCalls.require(driver, "cuCtxPushCurrent", result);
        try {
            memory.unlock(driver);
        } finally {
            driver.popContext(new long[1]);
        }
    }

    /** Releases the context after the last memory is closed. */
    private void leave(LockedMemory memory) {
        LOCKED.remove(memory);
        if (--allocated == 0) {
            int result = driver.releaseContext(device);
            if (result != 0 && result != CudaCalls.DEINITIALIZED) {
                LOG.warn("CUDA context is not released: error={} {}", result, driver.nameOf(result));
            }
        }
    }

    private void withContext(Runnable work) {
        CudaCalls.require(driver, "cuCtxPushCurrent", driver.pushContext(context[0]));
        try {
            work.run();
        } finally {
            driver.popContext(new long[1]);
        }
    }

    @Override
    public String toString() {
        return "cuda:" + device;
    }
}
