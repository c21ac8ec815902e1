package dev.larder.loader.internal.device;

import dev.larder.loader.device.Device;

/** A device that a backend opens. */
public interface OpenableDevice extends Device {
    /** Opens the device. The caller closes it. */
    DeviceBackend open();
}
