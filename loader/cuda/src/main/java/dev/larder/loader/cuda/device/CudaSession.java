package dev.larder.loader.cuda.device;

import dev.larder.internal.error.Logs;
import dev.larder.loader.internal.cuda.CudaCalls;
import dev.larder.loader.internal.cuda.LibCuda;
import dev.larder.loader.internal.cuda.PageLocking;
import dev.larder.loader.internal.device.DeviceLimits;
import dev.larder.loader.internal.device.NativeSession;
import java.util.Objects;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A device in its primary context, which CUDA libraries of this process share. The parts of a backend share it.
 *
 * <p>A context is current for a thread. Every call of the driver is between {@link #enter} and {@link #leave}, because threads of the
 * trainer have their own contexts.
 */
final class CudaSession extends NativeSession {
    private static final Logger LOG = Logs.of(CudaSession.class);
    private static final int OUT_OF_MEMORY = 2;
    private static final int NON_BLOCKING = 1;

    final boolean poisoned;
    final CudaEvents events = new CudaEvents(this);
    final PageLocking pageLocking;
    private final int device;
    private final long context;
    private @Nullable CudaQueue copies;

    /** An output of the driver that is not used. */
    private final long[] popped = new long[1];

    private CudaSession(CudaDevices.Found found, DeviceLimits limits, long context) {
        super(limits.limit(found.info()), limits.patience(), new CudaHealth());
        this.poisoned = limits.poisoned();
        this.device = found.device();
        this.context = context;
        this.pageLocking = PageLocking.on(device);
    }

    /** Retains the device's primary context. */
    static CudaSession open(CudaDevices.Found found, DeviceLimits limits) {
        long[] context = new long[1];
        int result = LibCuda.cuDevicePrimaryCtxRetain(context, found.device());
        if (result != 0) {
            throw CudaHealth.failure("cuDevicePrimaryCtxRetain", result)
                    .with("device", found.info())
                    .remedy("check with nvidia-smi that the device exists and has free memory");
        }
        return new CudaSession(found, limits, context[0]);
    }

    /** Sets the stream for copies that the host waits for. It has no other work. */
    void copies(CudaQueue newCopies) {
        copies = newCopies;
    }

    CudaQueue copies() {
        return Objects.requireNonNull(copies);
    }

    /** Destroys the events, and leaves the context. */
    @Override
    protected void release() {
        events.close();
        logged("cuDevicePrimaryCtxRelease", LibCuda.cuDevicePrimaryCtxRelease_v2(device));
    }

    /** Makes the context current for this thread, until {@link #leave}. */
    void enter() {
        require("cuCtxPushCurrent", LibCuda.cuCtxPushCurrent_v2(context));
    }

    void leave() {
        LibCuda.cuCtxPopCurrent_v2(popped);
    }

    /** Returns the result of a call, or of making the context current for it. Throws nothing. */
    int resultOf(IntSupplier call) {
        int result = LibCuda.cuCtxPushCurrent_v2(context);
        if (result != 0) {
            return result;
        }
        try {
            return call.getAsInt();
        } finally {
            leave();
        }
    }

    /** Frees a resource, unless the process ends or the device is lost. */
    void free(String call, IntSupplier freeing) {
        logged(call, resultOf(freeing));
    }

    private void logged(String call, int result) {
        if (result != 0 && result != CudaCalls.DEINITIALIZED && !CudaCalls.isSticky(result)) {
            LOG.warn(
                    "resource of a device was not freed: device={} call={} code={}",
                    info(),
                    call,
                    CudaHealth.name(result));
        }
    }

    /** Fails unless a result is success. */
    void require(String call, int result) {
        if (result != 0) {
            throw health().failed(call, result).with("device", info()).exception();
        }
    }

    /** Creates a stream that does not wait for the default one. */
    long createStream() {
        long[] stream = new long[1];
        enter();
        try {
            require("cuStreamCreate", LibCuda.cuStreamCreate(stream, NON_BLOCKING));
        } finally {
            leave();
        }
        return stream[0];
    }

    // ---- memory of the device

    /** Allocates memory; fails with {@code NO_SPACE} and numbers. */
    long allocate(long byteSize) {
        reserve(byteSize);
        long[] address = new long[1];
        int result = resultOf(() -> LibCuda.cuMemAlloc_v2(address, byteSize));
        if (result != 0) {
            free(byteSize);
            if (result != OUT_OF_MEMORY) {
                throw health().failed("cuMemAlloc", result)
                        .with("needed", byteSize)
                        .exception();
            }
            throw noSpace(byteSize)
                    .with("free", freeBytes())
                    .remedy("check what else uses the device, or use fewer or smaller batches");
        }
        return address[0];
    }

    private long freeBytes() {
        long[] free = new long[1];
        int result = resultOf(() -> LibCuda.cuMemGetInfo_v2(free, new long[1]));
        return result == 0 ? free[0] : -1;
    }

    void freeMemory(long address, long byteSize) {
        free(byteSize);
        free("cuMemFree", () -> LibCuda.cuMemFree_v2(address));
    }

    @Override
    public boolean sharesContextWith(NativeSession other) {
        return other instanceof CudaSession own && context == own.context;
    }
}
