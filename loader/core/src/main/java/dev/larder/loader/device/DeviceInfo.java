package dev.larder.loader.device;

/**
 * Describes a device.
 *
 * @param backend the kind of backend that opens it: {@code opencl}, {@code cuda}, {@code fake}
 * @param index its place in the list of its backend, from 0
 * @param kind {@code gpu}, {@code cpu}, {@code accelerator}
 * @param platform the driver's platform and its version
 * @param driver the version of the driver
 * @param memoryBytes its memory in bytes
 * @param maxAllocationBytes maximum size of one allocation in bytes
 * @param computeUnits the number of units that compute in parallel
 * @param unifiedMemory whether it uses the host's memory
 * @param doubles whether it supports 64-bit floats
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
