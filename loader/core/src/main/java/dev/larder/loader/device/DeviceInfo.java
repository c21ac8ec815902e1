package dev.larder.loader.device;

/**
 * Describes a device.
 *
 * @param backend the kind of backend that opens it: {@code opencl}, {@code cuda}, {@code fake}
 * @param index its place in the list of its backend, from 0
 * @param kind {@code gpu}, {@code cpu}, {@code accelerator}
 * @param platform the driver's platform and its version
 * @param driver the version of the driver
 * @param memoryBytes its memory
 * @param maxAllocationBytes the most that one piece of memory can have
 * @param computeUnits how many units compute at a time
 * @param unifiedMemory whether it works in the memory of the host
 * @param doubles whether it computes with 64-bit floats
 * @param exactFloats whether it rounds 32-bit floats to the nearest and keeps subnormal ones, as Java does
 */
public record DeviceInfo(
        String backend,
        int index,
        String name,
        String kind,
        String platform,
        String driver,
        long memoryBytes,
        long maxAllocationBytes,
        int computeUnits,
        boolean unifiedMemory,
        boolean doubles,
        boolean exactFloats) {
    @Override
    public String toString() {
        return backend + ":" + index + " " + name;
    }
}
