package dev.larder.loader.cuda;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.Posix;

/** Calls the library that comes with the CUDA driver; no toolkit is needed. Loaded once, and never unloaded. */
final class JnaCudaDriver implements CudaDriver {
    /** What every driver installs. */
    static final String LIBRARY = "libcuda.so.1";

    private final NativeLibrary library;

    private JnaCudaDriver(NativeLibrary library) {
        this.library = library;
    }

    /** Loads a library by name or path; fails with {@code NOT_FOUND} where there is none. */
    static JnaCudaDriver load(String name) {
        Posix.system(); // says where JNA puts its own library
        try {
            return new JnaCudaDriver(NativeLibrary.getInstance(name));
        } catch (LinkageError e) {
            throw Failure.of(ErrorCode.NOT_FOUND, "no CUDA driver to lock pages")
                    .with("library", name)
                    .with(
                            "reason",
                            String.valueOf(e.getMessage()).lines().findFirst().orElse(""))
                    .cause(e)
                    .remedy("install NVIDIA's driver (give a container the GPU: --gpus all), or remove pinMemory()");
        }
    }

    @Override
    public int initialize() {
        return call("cuInit", 0);
    }

    @Override
    public int countDevices(int[] count) {
        return call("cuDeviceGetCount", count);
    }

    @Override
    public int device(int[] device, int ordinal) {
        return call("cuDeviceGet", device, ordinal);
    }

    @Override
    public int currentDevice(int[] device) {
        return call("cuCtxGetDevice", device);
    }

    @Override
    public int retainContext(long[] context, int device) {
        return call("cuDevicePrimaryCtxRetain", context, device);
    }

    @Override
    public int releaseContext(int device) {
        return call("cuDevicePrimaryCtxRelease_v2", device);
    }

    @Override
    public int pushContext(long context) {
        return call("cuCtxPushCurrent_v2", context);
    }

    @Override
    public int popContext(long[] context) {
        return call("cuCtxPopCurrent_v2", context);
    }

    @Override
    public int lockPages(long address, long byteSize, int flags) {
        return call("cuMemHostRegister_v2", address, byteSize, flags);
    }

    @Override
    public int unlockPages(long address) {
        return call("cuMemHostUnregister", address);
    }

    @Override
    public String nameOf(int result) {
        PointerByReference name = new PointerByReference();
        Pointer text = call("cuGetErrorName", result, name) == 0 ? name.getValue() : Pointer.NULL;
        return text == null ? "CUDA error" : text.getString(0);
    }

    /** Calls a function whose arguments are integers and arrays of them, as JNA passes these. */
    private int call(String function, Object... arguments) {
        try {
            return library.getFunction(function, Function.C_CONVENTION).invokeInt(arguments);
        } catch (UnsatisfiedLinkError e) {
            throw Failure.of(ErrorCode.NOT_FOUND, "CUDA driver lacks a function")
                    .with("library", library.getName())
                    .with("function", function)
                    .cause(e)
                    .remedy("install a driver of 2013 or later, or remove pinMemory()");
        }
    }
}
