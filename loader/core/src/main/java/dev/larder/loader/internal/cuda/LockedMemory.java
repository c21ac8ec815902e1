package dev.larder.loader.internal.cuda;

import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.HostMemory;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.agrona.BufferUtil;

/** Java memory that is page-locked in chunks. Guarded by its {@link PageLocking}. */
final class LockedMemory implements HostMemory {
    private final PageLocking owner;
    private final HostMemory memory;
    private boolean givenUp;

    /** Start addresses of the locked chunks, the last first. */
    private final Deque<Long> chunks = new ArrayDeque<>();

    LockedMemory(PageLocking owner, HostMemory memory) {
        this.owner = owner;
        this.memory = memory;
    }

    long byteSize() {
        return bytes().capacity();
    }

    @Override
    public ByteBuffer bytes() {
        return memory.bytes();
    }

    /** Locks all chunks, or fails and leaves none locked. */
    void lock(CudaDriver driver, long chunkBytes) {
        long begin = BufferUtil.address(bytes());
        long end = begin + byteSize();
        try {
            for (long at = begin; at < end; at += chunkBytes) {
                long length = Math.min(chunkBytes, end - at);
                int result = driver.lockPages(at, length, PageLocking.PORTABLE);
                if (result != 0) {
                    throw CudaCalls.failure(driver, "cuMemHostRegister", result, byteSize());
                }
                chunks.push(at);
            }
        } catch (LarderException e) {
            try {
                unlock(driver);
            } catch (LarderException alsoFailed) {
                e.addSuppressed(alsoFailed);
            }
            throw e;
        }
    }

    /** Marks the memory as impossible to unlock. */
    void giveUp() {
        givenUp = true;
    }

    boolean isGivenUp() {
        return givenUp;
    }

    /** Unlocks all chunks, the last first. Tries all of them, then throws the first failure. */
    void unlock(CudaDriver driver) {
        int firstFailure = 0;
        while (!chunks.isEmpty()) {
            int result = driver.unlockPages(chunks.pop());
            firstFailure = firstFailure == 0 ? result : firstFailure;
        }
        if (firstFailure != CudaCalls.DEINITIALIZED) { // not at the end of the process
            CudaCalls.require(driver, "cuMemHostUnregister", firstFailure);
        }
    }

    @Override
    public void close() {
        owner.free(this);
    }
}
