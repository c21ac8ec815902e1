package dev.larder.loader.device;

/**
 * Selects the device for the batches of a loader.
 *
 * <pre>{@code
 * Device.auto()                          // a GPU, the one for $LARDER_DEVICE or $LOCAL_RANK; else the host
 * Device.opencl().named("H200")          // by part of its name, or .index(1); fails if there is none
 * Device.opencl().orHost()               // or the host, with a warning
 * Device.cuda()                          // NVIDIA devices through the CUDA driver
 * Device.host()
 * }</pre>
 *
 * <p>For a loader that uses your own queue, see the devices in {@code larder-loader-opencl} and {@code larder-loader-cuda}.
 */
public interface Device {
    /** Returns whether batches may stay in host memory if the device cannot be opened or has too little memory. */
    boolean fallsBackToHost();

    /** Chooses a GPU as described in {@link DeviceChoice}. If there is none, batches stay in host memory. */
    static DeviceChoice auto() {
        return DeviceChoice.auto();
    }

    /** Chooses an OpenCL device, preferring a GPU, then an accelerator, then a CPU. */
    static DeviceChoice opencl() {
        return DeviceChoice.of("opencl");
    }

    /** Chooses a device of NVIDIA's CUDA driver. */
    static DeviceChoice cuda() {
        return DeviceChoice.of("cuda");
    }

    /** Keeps batches in host memory: the reference for all devices. */
    static Device host() {
        return HostDevice.HOST;
    }
}
