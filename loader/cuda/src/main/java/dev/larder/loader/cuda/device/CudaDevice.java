package dev.larder.loader.cuda.device;

import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceLimits;
import dev.larder.loader.internal.device.OpenableDevice;
import java.util.OptionalLong;

/**
 * CUDA devices for programs that call CUDA themselves: with their own stream, and with batches as handles of the driver, all in the
 * device's primary context, which frameworks use.
 *
 * <pre>{@code
 * Device device = CudaDevice.of(0, stream);           // for LoaderBuilder.device
 * long images = batch.array("images").handle();       // a CUdeviceptr, the argument of a kernel in that stream
 * batch.release(CudaDevice.fence(queue, event));      // when the event is over
 * }</pre>
 */
public final class CudaDevice implements OpenableDevice {
    private final int index;
    private final OptionalLong stream;
    private final DeviceLimits limits;

    private CudaDevice(int index, OptionalLong stream, DeviceLimits limits) {
        this.index = index;
        this.stream = stream;
        this.limits = limits;
    }

    /** Selects a device by its number in the list of {@code larder devices}. */
    public static CudaDevice of(int index) {
        return new CudaDevice(index, OptionalLong.empty(), DeviceLimits.NONE);
    }

    /**
     * Selects a device for a consumer that works in its own stream: a {@code CUstream} of the primary context, such as {@code
     * torch.cuda.current_stream().cuda_stream}; 0 is the default stream. The caller owns it, and destroys it after the loader is closed.
     */
    public static CudaDevice of(int index, long stream) {
        return new CudaDevice(index, OptionalLong.of(stream), DeviceLimits.NONE);
    }

    /** Returns the same device with other limits. */
    CudaDevice with(DeviceLimits newLimits) {
        return new CudaDevice(index, stream, newLimits);
    }

    @Override
    public DeviceBackend open() {
        return CudaBackend.open(CudaDevices.find(index), limits, stream);
    }

    /** Returns false: the caller chose this device. */
    @Override
    public boolean fallsBackToHost() {
        return false;
    }

    /** Returns the {@code CUstream} of a queue of this backend. */
    public static long stream(DeviceQueue queue) {
        return own(queue).stream();
    }

    /** Returns the {@code CUevent} of a fence of this backend, which the fence owns; 0 if it is signalled. */
    public static long event(Fence fence) {
        if (fence == Fence.passed()) {
            return 0;
        }
        if (fence instanceof CudaFence own) {
            return own.event();
        }
        throw new IllegalArgumentException("fence does not belong to CUDA: fence=" + fence);
    }

    /**
     * Creates a fence from a {@code CUevent} that the caller recorded, on the device of a queue. The caller owns the event, and may
     * destroy it or record it again after the fence is closed.
     */
    public static Fence fence(DeviceQueue queue, long event) {
        return new CudaFence(own(queue).session(), event, false);
    }

    /**
     * Creates a fence that is signalled after all work that is in a stream of the caller now, on the device of a queue. The caller
     * closes the fence.
     */
    public static Fence fenceAfter(DeviceQueue queue, long stream) {
        return CudaQueue.of(own(queue).session(), stream).fence();
    }

    /** Lets later work of a caller's stream, on the device of a queue, wait for a fence. */
    public static void await(DeviceQueue queue, long stream, Fence fence) {
        CudaQueue.of(own(queue).session(), stream).waitFor(fence);
    }

    private static CudaQueue own(DeviceQueue queue) {
        if (queue instanceof CudaQueue own) {
            return own;
        }
        throw new IllegalArgumentException("queue does not belong to CUDA: queue=" + queue);
    }

    @Override
    public String toString() {
        return CudaDevices.BACKEND + ":" + index;
    }
}
