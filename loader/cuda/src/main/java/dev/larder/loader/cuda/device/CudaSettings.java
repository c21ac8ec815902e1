package dev.larder.loader.cuda.device;

import java.time.Duration;

/**
 * How a device is used; tests have it otherwise.
 *
 * @param memoryBytes the most to allocate on the device, where that is less than it has
 * @param maxAllocationBytes the most that one piece of memory may have
 * @param poisoned whether new device memory is filled with 0xA5, so that what no kernel wrote is seen
 * @param patience how long to wait for the device where a method says that it waits
 */
record CudaSettings(long memoryBytes, long maxAllocationBytes, boolean poisoned, Duration patience) {
    static final CudaSettings DEFAULT = new CudaSettings(Long.MAX_VALUE, Long.MAX_VALUE, false, Duration.ofMinutes(1));
}
