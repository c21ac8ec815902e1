package dev.larder.loader.device;

/**
 * Selects where a loader delivers its batches.
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

    /** Takes a GPU, see {@link DeviceChoice}; if there is none, batches stay in memory of the host. */
    static DeviceChoice auto() {
        return DeviceChoice.auto();
    }

    /** Takes an OpenCL device, of the kind that comes first: GPU, accelerator, CPU. */
    static DeviceChoice opencl() {
        return DeviceChoice.of("opencl");
    }

    /** Takes a device of NVIDIA's CUDA driver. */
    static DeviceChoice cuda() {
        return DeviceChoice.of("cuda");
    }

    /** Leaves batches in memory of the host: the reference for all others. */
    static Device host() {
        return HostDevice.HOST;
    }
}
