package dev.larder.loader.internal.upload;

import dev.larder.loader.internal.device.DeviceBackend;
import java.util.List;
import java.util.Map;

/**
 * A loader's resources on its devices.
 *
 * @param residents the complete arrays on each device, in the order of the devices
 */
record DeviceResources(List<DeviceBackend> backends, List<Map<String, ResidentArray>> residents, List<DeviceSlot> slots)
        implements AutoCloseable {
    /** Returns the memory in use on all devices together, in bytes. */
    long byteSize() {
        long resident = residents.stream()
                .flatMap(arrays -> arrays.values().stream())
                .mapToLong(ResidentArray::copiedBytes)
                .sum();
        return resident
                + slots.stream()
                        .flatMap(slot -> slot.parts.stream())
                        .mapToLong(DevicePart::byteSize)
                        .sum();
    }

    /** Frees the memory on the devices. The devices close later, after the host memory that may be registered with them. */
    void free() {
        slots.forEach(DeviceSlot::close);
        residents.forEach(arrays -> arrays.values().forEach(ResidentArray::close));
    }

    /** Closes everything. No device work may be in flight. */
    @Override
    public void close() {
        free();
        backends.forEach(DeviceBackend::close);
    }
}
