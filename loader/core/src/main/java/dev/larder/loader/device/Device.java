package dev.larder.loader.device;

import org.jspecify.annotations.Nullable;

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
    /** Opens the device; nothing stands for the host's own memory. The caller closes it. */
    @Nullable
    DeviceBackend open();

    /** Returns whether batches may stay in memory of the host where the device cannot be had, or has too little memory. */
    boolean fallsBackToHost();

    /** Takes a GPU, as {@link DeviceChoice} says which; where there is none, batches stay in memory of the host. */
    static DeviceChoice auto() {
        return DeviceChoice.auto();
    }

    /** Takes an OpenCL device, of the kind that comes first: GPU, accelerator, CPU. */
    static DeviceChoice opencl() {
        return DeviceChoice.of("opencl");
    }

    /** Takes a device of NVIDIA's CUDA driver. */
    static DeviceChoice cuda() {
        return DeviceChoice.of(DeviceChoice.CUDA);
    }

    /** Leaves batches in memory of the host: the reference for all others. */
    static Device host() {
        return new Device() {
            @Override
            public @Nullable DeviceBackend open() {
                return null;
            }

            @Override
            public boolean fallsBackToHost() {
                return true;
            }

            @Override
            public String toString() {
                return "host";
            }
        };
    }
}
