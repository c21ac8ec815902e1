package dev.larder.loader.internal.device;

import org.jspecify.annotations.Nullable;

/** Memory that the kernels of a device can use. Its allocator owns it and closes it before the backend. */
public interface DeviceMemory extends AutoCloseable {
    /** Returns the size in bytes. */
    long byteSize();

    /** Returns the native handle: the {@code cl_mem}, or the address of host memory. */
    long handle();

    /** Returns the object for Java libraries, JOCL's {@code cl_mem}, or empty if there is none. */
    @Nullable
    Object nativeObject();

    /** Frees the memory. No operation that uses it may be in flight. Idempotent. */
    @Override
    void close();
}
