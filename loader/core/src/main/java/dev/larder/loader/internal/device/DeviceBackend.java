package dev.larder.loader.internal.device;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.Fence;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * An open device: memory, queues and kernels. Its opener closes it after all objects that it created.
 *
 * <p>Memory is allocated and kernels are compiled by any thread.
 */
public interface DeviceBackend extends HostAllocator, AutoCloseable {
    /** Describes the device. */
    DeviceInfo info();

    /** Allocates host memory that the device fetches from at full speed. */
    @Override
    HostMemory allocate(long byteSize);

    /**
     * Allocates memory of the device, all of it at once rather than when it is first used; undefined content. Fails with
     * {@code NO_SPACE} and numbers if the device has not as much left, and can be used further then.
     */
    DeviceMemory allocateDevice(long byteSize);

    /**
     * Lets kernels read pages of the host in place, which must stay mapped and unchanged; nothing where the device has memory of
     * its own and would copy. Begins on a page.
     */
    Optional<DeviceMemory> share(ByteBuffer pages);

    /** Compiles a kernel; one of the same source is compiled once. Fails with {@code UNEXPECTED} and the compiler's log. */
    DeviceKernel compile(KernelSource kernel);

    /** Returns the queue for copies to the device. */
    WorkQueue uploads();

    /** Returns the queue for kernels. */
    WorkQueue kernels();

    /**
     * Returns the queue that the consumer gives its own work to, past this object as well: what waits for a fence here, and what a
     * fence stands for, includes that.
     */
    WorkQueue consumer();

    /** Returns whether queues can wait for a fence. */
    boolean accepts(Fence fence);

    /** Releases the device, in bounded time even if work is in flight. Idempotent. */
    @Override
    void close();
}
