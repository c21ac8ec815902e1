package dev.larder.loader.cuda.device;

import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceLimits;
import dev.larder.loader.internal.device.OpenableDevice;
import java.util.OptionalLong;

/**
 * CUDA devices for those who call CUDA themselves: with a stream of their own, and what batches are as handles of the driver. All is
 * in the device's primary context, which frameworks use too.
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

    /** Takes a device by its number among those that the driver shows, as {@code larder devices} lists them. */
    public static CudaDevice of(int index) {
        return new CudaDevice(index, OptionalLong.empty(), DeviceLimits.NONE);
    }

    /**
     * Takes a device whose consumer gives its work to a stream of its own: a {@code CUstream} of the primary context, such as {@code
     * torch.cuda.current_stream().cuda_stream}; 0 is the default stream. It stays the consumer's, who destroys it when the loader is
     * closed.
     */
    public static CudaDevice of(int index, long stream) {
        return new CudaDevice(index, OptionalLong.of(stream), DeviceLimits.NONE);
    }

    /** Uses the device in another way. */
    CudaDevice with(DeviceLimits newLimits) {
        return new CudaDevice(index, stream, newLimits);
    }

    @Override
    public DeviceBackend open() {
        return CudaBackend.open(CudaDevices.find(index), limits, stream);
    }

    /** Leaves the choice as it is: no device, no batches. */
    @Override
    public boolean fallsBackToHost() {
        return false;
    }

    /** Returns the {@code CUstream} of a queue of this backend. */
    public static long stream(DeviceQueue queue) {
        return own(queue).stream();
    }

    /** Returns the {@code CUevent} of a fence of this backend, which stays the fence's; 0 where nobody has to wait any more. */
    public static long event(Fence fence) {
        if (fence == Fence.passed()) {
            return 0;
        }
        if (fence instanceof CudaFence own) {
            return own.event();
        }
        throw new IllegalArgumentException("not of CUDA: " + fence);
    }

    /**
     * Makes a fence of a {@code CUevent} that the consumer recorded, on the device of a queue. The event stays the consumer's: it
     * destroys it, or records it again, when the fence is closed.
     */
    public static Fence fence(DeviceQueue queue, long event) {
        return new CudaFence(own(queue).session(), event, false);
    }

    /**
     * Makes a fence that is passed when everything is done that a stream of the consumer was given so far, on the device of a queue.
     * Whoever gets the fence closes it.
     */
    public static Fence fenceAfter(DeviceQueue queue, long stream) {
        return CudaQueue.of(own(queue).session(), stream).fence();
    }

    /** Has a stream of the consumer, on the device of a queue, wait for a fence: what it is given from now on comes after that. */
    public static void await(DeviceQueue queue, long stream, Fence fence) {
        CudaQueue.of(own(queue).session(), stream).waitFor(fence);
    }

    private static CudaQueue own(DeviceQueue queue) {
        if (queue instanceof CudaQueue own) {
            return own;
        }
        throw new IllegalArgumentException("not of CUDA: " + queue);
    }

    @Override
    public String toString() {
        return CudaDevices.BACKEND + ":" + index;
    }
}
