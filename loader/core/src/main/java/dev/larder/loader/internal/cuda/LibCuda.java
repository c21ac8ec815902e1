package dev.larder.loader.internal.cuda;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import dev.larder.internal.posix.Posix;
import java.util.Map;

/**
 * The CUDA driver functions that this package and the CUDA backend use, named as in {@code cuda.h}. Handles and addresses, of host
 * and device, are {@code long}. Each function returns the driver's result, 0 for success.
 *
 * <p>The first call loads the library. Call {@link CudaLibrary#require} before: its failure names a missing library or function.
 */
@SuppressWarnings("checkstyle:MethodName")
public final class LibCuda {
    static {
        Posix.system(); // sets the folder for JNA's own library
        Native.register(
                LibCuda.class,
                NativeLibrary.getInstance(CudaLibrary.name(), Map.of(Library.OPTION_ALLOW_OBJECTS, false)));
    }

    private LibCuda() {}

    /** Returns the name of a result in {@code cuda.h}. */
    public static String nameOf(int result) {
        long[] name = new long[1];
        return cuGetErrorName(result, name) != 0 || name[0] == 0 ? "CUDA error" : new Pointer(name[0]).getString(0);
    }

    static native int cuGetErrorName(int result, long[] name);

    // ---- devices

    public static native int cuInit(int flags);

    public static native int cuDriverGetVersion(int[] version);

    public static native int cuDeviceGetCount(int[] count);

    public static native int cuDeviceGet(int[] device, int ordinal);

    public static native int cuDeviceGetName(byte[] name, int length, int device);

    public static native int cuDeviceTotalMem_v2(long[] byteSize, int device);

    public static native int cuDeviceGetAttribute(int[] value, int attribute, int device);

    // ---- contexts, which are current for a thread

    public static native int cuDevicePrimaryCtxRetain(long[] context, int device);

    public static native int cuDevicePrimaryCtxRelease_v2(int device);

    public static native int cuCtxGetDevice(int[] device);

    public static native int cuCtxPushCurrent_v2(long context);

    public static native int cuCtxPopCurrent_v2(long[] context);

    // ---- memory

    public static native int cuMemAlloc_v2(long[] address, long byteSize);

    public static native int cuMemFree_v2(long address);

    public static native int cuMemGetInfo_v2(long[] free, long[] total);

    public static native int cuMemHostRegister_v2(long address, long byteSize, int flags);

    public static native int cuMemHostUnregister(long address);

    public static native int cuMemcpyHtoDAsync_v2(long to, long from, long byteSize, long stream);

    public static native int cuMemcpyDtoHAsync_v2(long to, long from, long byteSize, long stream);

    public static native int cuMemsetD8Async(long to, byte value, long byteSize, long stream);

    // ---- streams and events

    public static native int cuStreamCreate(long[] stream, int flags);

    public static native int cuStreamDestroy_v2(long stream);

    public static native int cuStreamQuery(long stream);

    public static native int cuStreamWaitEvent(long stream, long event, int flags);

    public static native int cuEventCreate(long[] event, int flags);

    public static native int cuEventDestroy_v2(long event);

    public static native int cuEventRecord(long event, long stream);

    public static native int cuEventQuery(long event);

    // ---- kernels

    public static native int cuModuleLoadData(long[] module, byte[] image);

    public static native int cuModuleUnload(long module);

    public static native int cuModuleGetFunction(long[] function, long module, byte[] name);

    public static native int cuFuncGetAttribute(int[] value, int attribute, long function);

    @SuppressWarnings("checkstyle:ParameterNumber") // as in C
    public static native int cuLaunchKernel(
            long function,
            int groupsX,
            int groupsY,
            int groupsZ,
            int itemsX,
            int itemsY,
            int itemsZ,
            int sharedByteSize,
            long stream,
            long arguments,
            long extra);
}
