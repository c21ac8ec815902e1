package dev.larder.bench.gpu;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Copies with the CUDA driver alone, on its first device. Their speed is the limit for other copies. Not thread-safe. */
final class Cuda implements AutoCloseable {
    /** Flags of {@code cuMemHostRegister}: for all contexts, and for memory that the device only reads. */
    static final int PORTABLE_READ_ONLY = 1 | 8;

    static final int PORTABLE = 1;

    private static final String LIBRARY = "libcuda.so.1";
    private static final int ASYNC_ENGINE_COUNT = 40;
    private static final int PCI_BUS_ID = 33;
    private static final int READ_ONLY_REGISTER_SUPPORTED = 113;
    private static final int MULTIPROCESSOR_COUNT = 16;

    private final NativeLibrary library;
    private final int device;
    private final List<Runnable> frees = new ArrayList<>();
    private final long stream;

    private Cuda(NativeLibrary library) {
        this.library = library;
        require("cuInit", 0);
        int[] found = new int[1];
        require("cuDeviceGet", found, 0);
        this.device = found[0];
        long[] context = new long[1];
        require("cuDevicePrimaryCtxRetain", context, device);
        require("cuCtxSetCurrent", context[0]);
        long[] created = new long[1];
        require("cuStreamCreate", created, 1);
        this.stream = created[0];
    }

    /** Loads the driver; reports the reason if there is no driver or no device. */
    static Optional<Cuda> open(Report report) {
        try {
            return Optional.of(new Cuda(NativeLibrary.getInstance(LIBRARY)));
        } catch (UnsatisfiedLinkError | IllegalStateException e) {
            String reason = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            report.machine("CUDA", "none: " + reason);
            return Optional.empty();
        }
    }

    String describe() {
        byte[] name = new byte[256];
        require("cuDeviceGetName", name, name.length, device);
        int[] version = new int[1];
        require("cuDriverGetVersion", version);
        int length = 0;
        while (length < name.length && name[length] != 0) {
            length++;
        }
        return new String(name, 0, length, StandardCharsets.UTF_8) + ", driver API "
                + version[0] / 1000 + "." + version[0] % 1000 / 10
                + ", copy engines " + attribute(ASYNC_ENGINE_COUNT)
                + ", multiprocessors " + attribute(MULTIPROCESSOR_COUNT)
                + ", PCI bus " + attribute(PCI_BUS_ID)
                + ", registers read-only pages " + (attribute(READ_ONLY_REGISTER_SUPPORTED) != 0);
    }

    private int attribute(int number) {
        int[] value = new int[1];
        return call("cuDeviceGetAttribute", value, number, device) == 0 ? value[0] : -1;
    }

    /** Allocates device memory until {@link #free}. */
    long allocateDevice(long byteSize) {
        long[] address = new long[1];
        require("cuMemAlloc_v2", address, byteSize);
        frees.add(() -> call("cuMemFree_v2", address[0]));
        return address[0];
    }

    /** Allocates locked host memory until {@link #free}, and fills it. */
    long allocateHost(long byteSize) {
        long[] address = new long[1];
        require("cuMemHostAlloc", address, byteSize, PORTABLE);
        frees.add(() -> call("cuMemFreeHost", address[0]));
        ByteBuffer bytes = new Pointer(address[0]).getByteBuffer(0, byteSize);
        for (int at = 0; at + Integer.BYTES <= byteSize; at += Integer.BYTES) {
            bytes.putInt(at, at * 0x9E3779B9);
        }
        return address[0];
    }

    /** Frees all memory that was allocated here. */
    void free() {
        frees.forEach(Runnable::run);
        frees.clear();
    }

    /** Copies to the device this many times, and waits for the last copy. */
    void upload(long to, long from, long byteSize, int times) {
        for (int i = 0; i < times; i++) {
            require("cuMemcpyHtoDAsync_v2", to, from, byteSize, stream);
        }
        require("cuStreamSynchronize", stream);
    }

    /** Copies within the device this many times, and waits for the last copy. */
    void copy(long to, long from, long byteSize, int times) {
        for (int i = 0; i < times; i++) {
            require("cuMemcpyDtoDAsync_v2", to, from, byteSize, stream);
        }
        require("cuStreamSynchronize", stream);
    }

    /** Locks host pages; returns the driver's result, 0 for success. */
    int register(long address, long byteSize, int flags) {
        return call("cuMemHostRegister_v2", address, byteSize, flags);
    }

    void unregister(long address) {
        require("cuMemHostUnregister", address);
    }

    private void require(String function, Object... arguments) {
        int result = call(function, arguments);
        if (result != 0) {
            throw new IllegalStateException(function + " failed: error=" + result);
        }
    }

    private int call(String function, Object... arguments) {
        return library.getFunction(function, Function.C_CONVENTION).invokeInt(arguments);
    }

    @Override
    public void close() {
        free();
        call("cuStreamDestroy_v2", stream);
        call("cuDevicePrimaryCtxRelease_v2", device);
    }
}
