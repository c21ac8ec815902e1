package dev.larder.loader.device;

/** Allocates memory of the host for slots. From any thread. */
@FunctionalInterface
public interface HostAllocator {
    /** Allocates zeroed memory: a byte at least, at most 2 GiB less two pages. Fails with {@code NO_SPACE} and how much was asked for. */
    HostMemory allocate(long byteSize);
}
