package dev.larder.loader.internal.cuda;

/** The CUDA driver calls that Larder uses. Each returns the driver's result, 0 for success; some need a current context. */
interface CudaDriver {
    /** {@code cuInit}. */
    int initialize();

    /** {@code cuDeviceGetCount}. */
    int countDevices(int[] count);

    /** {@code cuDeviceGet}. */
    int device(int[] device, int ordinal);

    /** {@code cuCtxGetDevice}: the device of this thread's current context, if any. */
    int currentDevice(int[] device);

    /** {@code cuDevicePrimaryCtxRetain}: for the context that all CUDA libraries of this process share. */
    int retainContext(long[] context, int device);

    /** {@code cuDevicePrimaryCtxRelease}. */
    int releaseContext(int device);

    /** {@code cuCtxPushCurrent}: for this thread. */
    int pushContext(long context);

    /** {@code cuCtxPopCurrent}. */
    int popContext(long[] context);

    /** {@code cuMemHostRegister}. */
    int lockPages(long address, long byteSize, int flags);

    /** {@code cuMemHostUnregister}. */
    int unlockPages(long address);

    /** {@code cuGetErrorName}. */
    String nameOf(int result);
}
