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
 * Allocates page-locked memory, so that copies to any CUDA device of this process run at link speed, without the
 * driver's own buffers. The memory belongs to Java: it stays readable while its buffer is reachable, even after its
 * pages are unlocked.
 *
 * <p>Uses the primary context of one device, which all CUDA libraries of this process share: the device of the opening thread's
 * context, otherwise device {@code $LOCAL_RANK}. It holds the context from the first allocation until the last memory is closed;
 * only the memory needs closing. Thread-safe.
 */
public final class PageLocking implements HostAllocator {
    private static final Logger LOG = Logs.of(PageLocking.class);

    /** Drivers fail on very long ranges, and block other calls while they lock one. */
    static final long MAX_CHUNK_BYTES = 1L << 30;

    /** The flag to lock pages for all contexts of the process. */
    static final int PORTABLE = 1;

    /** Locked memory, kept reachable so that Java does not free unclosed memory that the driver uses. */
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

    /** Finds the CUDA driver and its devices. Fails with {@code NOT_FOUND} and a remedy if there is none. */
    public static PageLocking open() {
        return open(JnaCudaDriver.load(), System.getenv(), MAX_CHUNK_BYTES);
    }

    /** Uses the context of a device, given its {@code cuDeviceGet} handle. The driver must be initialized. */
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

    /** Unlocks memory, even if its buffer is still in use. Failures are logged. */
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
        } catch (RuntimeException e) { // never free them: the driver would treat new memory there as locked
            memory.giveUp();
            LOG.warn(
                    "pages stay locked until the process ends: bytes={} reason={}",
                    memory.byteSize(),
                    Failure.words(e));
        }
    }

    private void unlock(LockedMemory memory) {
        int result = driver.pushContext(context[0]);
        if (result == CudaCalls.DEINITIALIZED) { // the process is ending, and the driver has unlocked all pages
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
