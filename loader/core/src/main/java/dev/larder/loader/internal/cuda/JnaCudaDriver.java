package dev.larder.loader.internal.cuda;

import com.sun.jna.NativeLibrary;
import dev.larder.internal.posix.Posix;

/** The CUDA driver of this machine. */
final class JnaCudaDriver implements CudaDriver {
    private static final String WHAT_FAILED = "no CUDA driver to lock pages";
    private static final String REMEDY =
            "install NVIDIA's driver (give a container the GPU: --gpus all), or remove pinMemory()";

    private JnaCudaDriver() {}

    /** Loads the driver's library. Fails with {@code NOT_FOUND} if there is none. */
    static JnaCudaDriver load() {
        return load(CudaLibrary.name());
    }

    static JnaCudaDriver load(String library) {
        Posix.system(); // sets the folder for JNA's own library
        try {
            NativeLibrary.getInstance(library);
        } catch (LinkageError e) {
            throw CudaLibrary.missing(library, e, WHAT_FAILED, REMEDY);
        }
        CudaLibrary.require(WHAT_FAILED, REMEDY); // it may lack a function
        return new JnaCudaDriver();
    }

    @Override
    public int initialize() {
        return LibCuda.cuInit(0);
    }

    @Override
    public int countDevices(int[] count) {
        return LibCuda.cuDeviceGetCount(count);
    }

    @Override
    public int device(int[] device, int ordinal) {
        return LibCuda.cuDeviceGet(device, ordinal);
    }

    @Override
    public int currentDevice(int[] device) {
        return LibCuda.cuCtxGetDevice(device);
    }

    @Override
    public int retainContext(long[] context, int device) {
        return LibCuda.cuDevicePrimaryCtxRetain(context, device);
    }

    @Override
    public int releaseContext(int device) {
        return LibCuda.cuDevicePrimaryCtxRelease_v2(device);
    }

    @Override
    public int pushContext(long context) {
        return LibCuda.cuCtxPushCurrent_v2(context);
    }

    @Override
    public int popContext(long[] context) {
        return LibCuda.cuCtxPopCurrent_v2(context);
    }

    @Override
    public int lockPages(long address, long byteSize, int flags) {
        return LibCuda.cuMemHostRegister_v2(address, byteSize, flags);
    }

    @Override
    public int unlockPages(long address) {
        return LibCuda.cuMemHostUnregister(address);
    }

    @Override
    public String nameOf(int result) {
        return LibCuda.nameOf(result);
    }
}
