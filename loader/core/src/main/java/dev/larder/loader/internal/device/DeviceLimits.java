package dev.larder.loader.internal.device;

import dev.larder.loader.device.DeviceInfo;
import java.time.Duration;

/**
 * How much of a device is used; tests use less.
 *
 * @param memoryBytes the most to allocate on the device
 * @param maxAllocationBytes the most that one piece of memory may have
 * @param poisoned whether new device memory is filled with 0xA5, so that a test sees bytes that no kernel wrote
 * @param patience how long to wait for the device if a method waits
 */
public record DeviceLimits(long memoryBytes, long maxAllocationBytes, boolean poisoned, Duration patience) {
    /** All that the device has, and a minute. */
    public static final DeviceLimits NONE =
            new DeviceLimits(Long.MAX_VALUE, Long.MAX_VALUE, false, Duration.ofMinutes(1));

    /** Returns a device with no more than this. */
    public DeviceInfo limit(DeviceInfo info) {
        return new DeviceInfo(
                info.backend(),
                info.index(),
                info.name(),
                info.kind(),
                info.platform(),
                info.driver(),
                Math.min(info.memoryBytes(), memoryBytes),
                Math.min(info.maxAllocationBytes(), maxAllocationBytes),
                info.computeUnits(),
                info.unifiedMemory(),
                info.doubles(),
                info.exactFloats());
    }
}
