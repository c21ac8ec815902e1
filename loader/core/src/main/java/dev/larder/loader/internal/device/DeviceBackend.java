package dev.larder.loader.internal.device;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.Fence;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * An open device: memory, queues and kernels. Its opener closes it after all objects that it created.
 *
 * <p>Any thread may allocate memory and compile kernels.
 */
public interface DeviceBackend extends HostAllocator, AutoCloseable {
    /** Describes the device. */
    DeviceInfo info();

    /** Allocates host memory from which the device copies at full speed. */
    @Override
    HostMemory allocate(long byteSize);

    /**
     * Allocates device memory with undefined content. The device reserves all of it now, not on first use. Fails with
     * {@code NO_SPACE} and the sizes if too little memory is left; the device stays usable.
     */
    DeviceMemory allocateDevice(long byteSize);

    /**
     * Lets kernels read host pages in place. The pages must stay mapped and unchanged; the buffer must begin on a page. Returns
     * empty if the device has its own memory and would copy.
     */
    Optional<DeviceMemory> share(ByteBuffer pages);

    /** Compiles a kernel, once for each source. Fails with {@code UNEXPECTED} and the compiler's log. */
    DeviceKernel compile(KernelSource kernel);

    /** Returns the queue for copies to the device. */
    WorkQueue uploads();

    /** Returns the queue for kernels. */
    WorkQueue kernels();

    /**
     * Returns the queue that the consumer uses for its own work. The consumer may submit work without this object; fences and waits
     * in this queue include that work.
     */
    WorkQueue consumer();

    /** Returns whether the queues of this device can wait for a fence. */
    boolean accepts(Fence fence);

    /** Releases the device in bounded time, even if work is in flight. Idempotent. */
    @Override
    void close();
}
