package dev.larder.loader.internal.device;

import dev.larder.loader.device.DeviceInfo;
import java.time.Duration;

/**
 * Limits on the use of a device; tests set lower ones.
 *
 * @param memoryBytes maximum memory to allocate on the device, in bytes
 * @param maxAllocationBytes maximum size of one allocation, in bytes
 * @param poisoned whether new device memory is filled with 0xA5, so that tests detect bytes that no kernel wrote
 * @param patience timeout of methods that wait for the device
 */
public record DeviceLimits(long memoryBytes, long maxAllocationBytes, boolean poisoned, Duration patience) {
    /** The whole device, and a timeout of one minute. */
    public static final DeviceLimits NONE =
            new DeviceLimits(Long.MAX_VALUE, Long.MAX_VALUE, false, Duration.ofMinutes(1));

    /** Returns the description with memory sizes reduced to these limits. */
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
