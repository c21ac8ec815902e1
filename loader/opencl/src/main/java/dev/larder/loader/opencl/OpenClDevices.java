package dev.larder.loader.opencl;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.loader.device.DeviceInfo;
import java.util.ArrayList;
import java.util.List;
import org.jocl.CL;
import org.jocl.Pointer;
import org.jocl.Sizeof;
import org.jocl.cl_device_id;
import org.jocl.cl_platform_id;
import org.slf4j.Logger;

/** Lists the devices of this machine's drivers. */
final class OpenClDevices {
    private static final Logger LOG = Logs.of(OpenClDevices.class);
    private static final long EXACT_FLOATS = CL.CL_FP_DENORM | CL.CL_FP_ROUND_TO_NEAREST;

    static final String BACKEND = "opencl";

    private OpenClDevices() {}

    /** A device and its platform. */
    record Found(cl_platform_id platform, cl_device_id device, DeviceInfo info) {}

    /** Lists all devices in the order of the platforms and their devices. */
    static List<Found> list() {
        OpenClLibrary.require();
        List<Found> found = new ArrayList<>();
        for (cl_platform_id platform : platforms()) {
            addDevices(platform, found);
        }
        return found;
    }

    /** Finds a device that was listed before; fails with {@code NOT_FOUND} if it is gone. */
    static Found find(DeviceInfo device) {
        List<Found> all = list();
        return all.stream()
                .filter(found -> found.info().index() == device.index()
                        && found.info().name().equals(device.name()))
                .findFirst()
                .orElseThrow(() -> Failure.of(ErrorCode.NOT_FOUND, "device is gone")
                        .with("device", device)
                        .with("devices", all.stream().map(Found::info).toList())
                        .remedy("see `larder devices`"));
    }

    private static void addDevices(cl_platform_id platform, List<Found> found) {
        cl_device_id[] devices;
        try {
            devices = devices(platform);
        } catch (LarderException e) {
            LOG.warn("driver skipped: platform={} reason={}", platform, e.getMessage());
            return;
        }
        for (cl_device_id device : devices) {
            try {
                found.add(new Found(platform, device, describe(device, found.size())));
            } catch (LarderException e) {
                LOG.warn("device skipped: platform={} device={} reason={}", platform, device, e.getMessage());
            }
        }
    }

    private static cl_platform_id[] platforms() {
        int[] count = new int[1];
        int code = Jocl.code(() -> CL.clGetPlatformIDs(0, null, count));
        if (code == CL.CL_PLATFORM_NOT_FOUND_KHR || (code == CL.CL_SUCCESS && count[0] == 0)) {
            throw noDriver();
        }
        check("clGetPlatformIDs", code);
        cl_platform_id[] platforms = new cl_platform_id[count[0]];
        check("clGetPlatformIDs", Jocl.code(() -> CL.clGetPlatformIDs(platforms.length, platforms, null)));
        return platforms;
    }

    private static LarderException noDriver() {
        return Failure.of(ErrorCode.NOT_FOUND, "no OpenCL driver")
                .with("drivers", System.getenv().getOrDefault("OCL_ICD_VENDORS", "/etc/OpenCL/vendors"))
                .remedy("install the GPU's driver; containers often have NVIDIA's library but not nvidia.icd:"
                        + " then set OCL_ICD_VENDORS to the path of libnvidia-opencl.so.1");
    }

    private static cl_device_id[] devices(cl_platform_id platform) {
        int[] count = new int[1];
        int code = Jocl.code(() -> CL.clGetDeviceIDs(platform, CL.CL_DEVICE_TYPE_ALL, 0, null, count));
        if (code == CL.CL_DEVICE_NOT_FOUND || (code == CL.CL_SUCCESS && count[0] == 0)) {
            return new cl_device_id[0];
        }
        check("clGetDeviceIDs", code);
        cl_device_id[] devices = new cl_device_id[count[0]];
        check(
                "clGetDeviceIDs",
                Jocl.code(() -> CL.clGetDeviceIDs(platform, CL.CL_DEVICE_TYPE_ALL, devices.length, devices, null)));
        return devices;
    }

    private static void check(String call, int code) {
        if (code != CL.CL_SUCCESS) {
            throw Health.failure(call, code).remedy("check whether clinfo works");
        }
    }

    @SuppressWarnings("deprecation") // OpenCL 1.2 lacks the newer queries for unified memory
    private static boolean isUnified(Jocl.Query query) {
        return Jocl.shortNumber(query, CL.CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    }

    /** Describes a device, with this index if it is not in the list. */
    static DeviceInfo describe(cl_device_id device, int index) {
        Jocl.Query query = (name, size, value, needed) -> CL.clGetDeviceInfo(device, name, size, value, needed);
        cl_platform_id platform = new cl_platform_id();
        check(
                "clGetDeviceInfo",
                Jocl.code(() ->
                        CL.clGetDeviceInfo(device, CL.CL_DEVICE_PLATFORM, Sizeof.POINTER, Pointer.to(platform), null)));
        Jocl.Query platformQuery =
                (name, size, value, needed) -> CL.clGetPlatformInfo(platform, name, size, value, needed);
        return new DeviceInfo(
                BACKEND,
                index,
                Jocl.text(query, CL.CL_DEVICE_NAME),
                kind(Jocl.number(query, CL.CL_DEVICE_TYPE)),
                Jocl.text(platformQuery, CL.CL_PLATFORM_NAME) + ", " + Jocl.text(platformQuery, CL.CL_PLATFORM_VERSION),
                Jocl.text(query, CL.CL_DRIVER_VERSION),
                Jocl.number(query, CL.CL_DEVICE_GLOBAL_MEM_SIZE),
                Jocl.number(query, CL.CL_DEVICE_MAX_MEM_ALLOC_SIZE),
                Jocl.shortNumber(query, CL.CL_DEVICE_MAX_COMPUTE_UNITS),
                isUnified(query),
                Jocl.number(query, CL.CL_DEVICE_DOUBLE_FP_CONFIG) != 0,
                (Jocl.number(query, CL.CL_DEVICE_SINGLE_FP_CONFIG) & EXACT_FLOATS) == EXACT_FLOATS);
    }

    private static String kind(long type) {
        if ((type & CL.CL_DEVICE_TYPE_GPU) != 0) {
            return "gpu";
        }
        return (type & CL.CL_DEVICE_TYPE_CPU) != 0 ? "cpu" : "accelerator";
    }
}
