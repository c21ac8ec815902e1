package dev.larder.loader.device;

/**
 * Selects the device to which a loader delivers its batches.
 *
 * <pre>{@code
 * Device.auto()                          // a GPU, the one for $LARDER_DEVICE or $LOCAL_RANK; else the host
 * Device.opencl().named("H200")          // by a part of its name, or .index(1); fails if there is none
 * Device.opencl().orHost()               // or the host, with a warning
 * Device.cuda()                          // the same devices by NVIDIA's own driver
 * Device.host()
 * }</pre>
 *
 * <p>The modules {@code larder-loader-opencl} and {@code larder-loader-cuda} have devices for a queue of one's own.
 */
public interface Device {
    /** Returns whether batches may stay in memory of the host if the device cannot be opened, or has too little memory. */
    boolean fallsBackToHost();

    /** Chooses a GPU, see {@link DeviceChoice}. If there is none, batches stay in host memory. */
    static DeviceChoice auto() {
        return DeviceChoice.auto();
    }

    /** Chooses an OpenCL device, by kind in this order: GPU, accelerator, CPU. */
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
