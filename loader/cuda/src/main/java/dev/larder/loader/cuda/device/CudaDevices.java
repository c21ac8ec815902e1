package dev.larder.loader.cuda.device;

import com.sun.jna.Native;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.internal.cuda.CudaLibrary;
import dev.larder.loader.internal.cuda.LibCuda;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;

/** Lists the devices of the CUDA driver. */
final class CudaDevices {
    private static final Logger LOG = Logs.of(CudaDevices.class);

    static final String BACKEND = "cuda";

    private static final int MULTIPROCESSOR_COUNT = 16;
    private static final int INTEGRATED = 18;
    private static final int COMPUTE_CAPABILITY_MAJOR = 75;
    private static final int COMPUTE_CAPABILITY_MINOR = 76;
    private static final int PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100;

    private CudaDevices() {}

    /**
     * A device of the driver.
     *
     * @param device its handle
     * @param computeCapability its compute capability, 90 for 9.0
     */
    record Found(int device, int computeCapability, DeviceInfo info) {}

    /** Lists all devices in the driver's order, without those that {@code $CUDA_VISIBLE_DEVICES} hides. */
    static List<Found> list() {
        CudaLibrary.require("no CUDA driver", "install NVIDIA's driver, or give the container the GPU: --gpus all");
        int[] count = new int[1];
        int result = LibCuda.cuInit(0);
        result = result != 0 ? result : LibCuda.cuDeviceGetCount(count);
        if (result != 0) { // not UNEXPECTED: a broken driver must not hide the devices of other backends
            throw Failure.of(ErrorCode.NOT_FOUND, "CUDA driver has no device")
                    .with("code", CudaHealth.name(result))
                    .remedy("check nvidia-smi, and $CUDA_VISIBLE_DEVICES");
        }
        List<Found> found = new ArrayList<>();
        for (int ordinal = 0; ordinal < count[0]; ordinal++) {
            try {
                found.add(describe(ordinal));
            } catch (LarderException e) {
                LOG.warn("device skipped: device={} reason={}", ordinal, e.getMessage());
            }
        }
        return found;
    }

    /** Finds a device that was listed before; fails with {@code NOT_FOUND} if it is gone. */
    static Found find(int index) {
        List<Found> all = list();
        return all.stream()
                .filter(found -> found.info().index() == index)
                .findFirst()
                .orElseThrow(() -> Failure.of(ErrorCode.NOT_FOUND, "no such device")
                        .with("wanted", BACKEND + ":" + index)
                        .with("devices", all.stream().map(Found::info).toList())
                        .remedy("see `larder devices`"));
    }

    private static Found describe(int ordinal) {
        int[] device = new int[1];
        check("cuDeviceGet", LibCuda.cuDeviceGet(device, ordinal));
        byte[] name = new byte[256];
        check("cuDeviceGetName", LibCuda.cuDeviceGetName(name, name.length, device[0]));
        long[] memory = new long[1];
        check("cuDeviceTotalMem", LibCuda.cuDeviceTotalMem_v2(memory, device[0]));
        int[] version = new int[1];
        check("cuDriverGetVersion", LibCuda.cuDriverGetVersion(version));
        int capability =
                10 * attribute(COMPUTE_CAPABILITY_MAJOR, device[0]) + attribute(COMPUTE_CAPABILITY_MINOR, device[0]);
        String driver = version[0] / 1000 + "." + version[0] % 1000 / 10;
        boolean unified = attribute(INTEGRATED, device[0]) != 0
                && attribute(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, device[0]) != 0;
        DeviceInfo info = new DeviceInfo(
                BACKEND,
                ordinal,
                Native.toString(name, "UTF-8"),
                "gpu",
                "NVIDIA CUDA, compute capability " + capability / 10 + "." + capability % 10,
                driver,
                memory[0],
                memory[0],
                attribute(MULTIPROCESSOR_COUNT, device[0]),
                unified,
                true,
                true);
        return new Found(device[0], capability, info);
    }

    private static int attribute(int number, int device) {
        int[] value = new int[1];
        check("cuDeviceGetAttribute", LibCuda.cuDeviceGetAttribute(value, number, device));
        return value[0];
    }

    private static void check(String call, int result) {
        if (result != 0) {
            throw CudaHealth.failure(call, result).remedy("check nvidia-smi");
        }
    }
}
