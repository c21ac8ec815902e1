package dev.larder.loader.internal.device;

/** Allocates host memory for slots. From any thread. */
@FunctionalInterface
public interface HostAllocator {
    /** Allocates zeroed memory: a byte at least, at most 2 GiB less two pages. Fails with {@code NO_SPACE} and how much was asked for. */
    HostMemory allocate(long byteSize);
}
