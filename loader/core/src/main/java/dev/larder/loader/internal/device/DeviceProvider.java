package dev.larder.loader.internal.device;

import dev.larder.loader.device.DeviceInfo;
import java.util.List;

/** Lists and opens the devices of one backend; found by {@link java.util.ServiceLoader}, with a constructor that does nothing. */
public interface DeviceProvider {
    /** Returns the backend's name, such as {@code opencl}. */
    String backend();

    /** Lists the devices of this machine. Fails with {@code NOT_FOUND} and the remedy if the backend itself is missing. */
    List<DeviceInfo> devices();

    /** Opens one of the devices, with a context and queues of its own. */
    DeviceBackend open(DeviceInfo device);
}
