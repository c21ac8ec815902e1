package dev.larder.loader.internal.device;

import org.jspecify.annotations.Nullable;

/** Memory that the kernels of a device can use. Belongs to who allocated it, and is closed before its backend. */
public interface DeviceMemory extends AutoCloseable {
    /** Returns how many bytes there are. */
    long byteSize();

    /** Returns what native code calls it: the {@code cl_mem}; for memory of the host its address. */
    long handle();

    /** Returns what Java libraries call it: JOCL's {@code cl_mem}; nothing where there is no such object. */
    @Nullable
    Object nativeObject();

    /** Gives the memory back; no operation may be under way that uses it. Idempotent. */
    @Override
    void close();
}
