package dev.larder.loader.internal.upload;

import dev.larder.loader.internal.device.DeviceBackend;
import java.util.List;
import java.util.Map;

/**
 * What a loader has on its devices.
 *
 * @param residents the arrays that each device has as a whole, in the order of the devices
 */
record DeviceResources(List<DeviceBackend> backends, List<Map<String, ResidentArray>> residents, List<DeviceSlot> slots)
        implements AutoCloseable {
    /** Returns how many bytes of all devices that takes. */
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

    /** Closes what lies on the devices, but not these: they come last, after memory of the host that they may know. */
    void free() {
        slots.forEach(DeviceSlot::close);
        residents.forEach(arrays -> arrays.values().forEach(ResidentArray::close));
    }

    /** Closes everything; nothing may be under way any more. */
    @Override
    public void close() {
        free();
        backends.forEach(DeviceBackend::close);
    }
}
