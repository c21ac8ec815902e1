package dev.larder.loader.opencl;

import dev.larder.loader.internal.device.DeviceLimits;
import java.time.Duration;

/**
 * Options for a device.
 *
 * @param memoryBytes the most memory to allocate on the device, if it has more
 * @param maxAllocationBytes the most memory in one allocation, if the device allows more
 * @param uploadPieceBytes the size of the pieces of an upload
 * @param poisoned whether new device memory is filled with 0xA5 instead of 0, for tests
 * @param patience the time limit for waits for the device
 */
public record OpenClOptions(
        long memoryBytes, long maxAllocationBytes, int uploadPieceBytes, boolean poisoned, Duration patience) {
    private static final Duration LONGEST_PATIENCE = Duration.ofDays(1000);

    /** The defaults: all memory of the device, pieces of 16 MiB, a minute. */
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

    /** Limits the memory to allocate. */
    public OpenClOptions memoryBytes(long newMemoryBytes) {
        return new OpenClOptions(newMemoryBytes, maxAllocationBytes, uploadPieceBytes, poisoned, patience);
    }

    /** Limits the size of one allocation. */
    public OpenClOptions maxAllocationBytes(long newMaxAllocationBytes) {
        return new OpenClOptions(memoryBytes, newMaxAllocationBytes, uploadPieceBytes, poisoned, patience);
    }

    /** Sets the size of the pieces of an upload. */
    public OpenClOptions uploadPieceBytes(int newUploadPieceBytes) {
        return new OpenClOptions(memoryBytes, maxAllocationBytes, newUploadPieceBytes, poisoned, patience);
    }

    /** Fills new device memory with 0xA5, so that tests notice bytes that no kernel wrote. */
    public OpenClOptions withPoison() {
        return new OpenClOptions(memoryBytes, maxAllocationBytes, uploadPieceBytes, true, patience);
    }

    /** Sets the time limit for waits for the device. */
    public OpenClOptions patience(Duration newPatience) {
        return new OpenClOptions(memoryBytes, maxAllocationBytes, uploadPieceBytes, poisoned, newPatience);
    }

    DeviceLimits limits() {
        return new DeviceLimits(memoryBytes, maxAllocationBytes, poisoned, patience);
    }
}
