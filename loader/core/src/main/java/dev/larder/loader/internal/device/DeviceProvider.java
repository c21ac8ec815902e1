package dev.larder.loader.internal.device;

import dev.larder.loader.device.DeviceInfo;
import java.util.List;

/** Lists and opens the devices of one backend. {@link java.util.ServiceLoader} finds it; its constructor must do nothing. */
public interface DeviceProvider {
    /** Returns the backend's name, such as {@code opencl}. */
    String backend();

    /** Lists the devices of this machine. Fails with {@code NOT_FOUND} and a remedy if the backend itself is missing. */
    List<DeviceInfo> devices();

    /** Opens a device with its own context and queues. */
    DeviceBackend open(DeviceInfo device);
}
