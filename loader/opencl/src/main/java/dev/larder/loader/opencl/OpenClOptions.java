package dev.larder.loader.opencl;

import dev.larder.loader.internal.device.DeviceLimits;
import java.time.Duration;

/**
 * How a device is used.
 *
 * @param memoryBytes the most to allocate on the device, where that is less than it has
 * @param maxAllocationBytes the most that one piece of memory may have, where that is less than the device allows
 * @param uploadPieceBytes uploads are given to the driver in pieces of this size
 * @param poisoned whether new device memory is filled with 0xA5 rather than 0: for tests
 * @param patience how long to wait for the device where a method says that it waits
 */
public record OpenClOptions(
        long memoryBytes, long maxAllocationBytes, int uploadPieceBytes, boolean poisoned, Duration patience) {
    private static final Duration LONGEST_PATIENCE = Duration.ofDays(1000);

    /** What is used where nothing is said: all that the device has, pieces of 16 MiB, a minute. */
    public static final OpenClOptions DEFAULT =
            new OpenClOptions(Long.MAX_VALUE, Long.MAX_VALUE, 16 << 20, false, Duration.ofMinutes(1));

    /** Checks the sizes. */
    public OpenClOptions {
        if (memoryBytes < 1
                || maxAllocationBytes < 1
                || uploadPieceBytes < 1
                || patience.isNegative()
                || patience.compareTo(LONGEST_PATIENCE) > 0) {
            throw new IllegalArgumentException("memoryBytes=" + memoryBytes + " maxAllocationBytes="
                    + maxAllocationBytes + " uploadPieceBytes=" + uploadPieceBytes + " patience=" + patience);
        }
    }

    /** Pretends that the device has less memory. */
    public OpenClOptions memoryBytes(long newMemoryBytes) {
        return new OpenClOptions(newMemoryBytes, maxAllocationBytes, uploadPieceBytes, poisoned, patience);
    }

    /** Pretends that the device allows only smaller pieces of memory. */
    public OpenClOptions maxAllocationBytes(long newMaxAllocationBytes) {
        return new OpenClOptions(memoryBytes, newMaxAllocationBytes, uploadPieceBytes, poisoned, patience);
    }

    /** Uploads in pieces of another size. */
    public OpenClOptions uploadPieceBytes(int newUploadPieceBytes) {
        return new OpenClOptions(memoryBytes, maxAllocationBytes, newUploadPieceBytes, poisoned, patience);
    }

    /** Fills new device memory with 0xA5, so that what no kernel wrote is seen. */
    public OpenClOptions withPoison() {
        return new OpenClOptions(memoryBytes, maxAllocationBytes, uploadPieceBytes, true, patience);
    }

    /** Waits for the device for another time. */
    public OpenClOptions patience(Duration newPatience) {
        return new OpenClOptions(memoryBytes, maxAllocationBytes, uploadPieceBytes, poisoned, newPatience);
    }

    DeviceLimits limits() {
        return new DeviceLimits(memoryBytes, maxAllocationBytes, poisoned, patience);
    }
}
