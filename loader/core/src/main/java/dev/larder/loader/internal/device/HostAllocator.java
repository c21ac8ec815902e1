package dev.larder.loader.internal.device;

/** Allocates host memory for slots. Thread-safe. */
@FunctionalInterface
public interface HostAllocator {
    /** Allocates zeroed memory, from 1 byte to 2 GiB less two pages. Fails with {@code NO_SPACE} and the requested size. */
    HostMemory allocate(long byteSize);
}
