package dev.larder.loader.cuda.device;

import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.cuda.CudaCalls;
import dev.larder.loader.internal.cuda.LibCuda;
import dev.larder.loader.internal.device.DeviceHealth;

/** The health of a CUDA device: after some failures the driver refuses all later calls. */
final class CudaHealth extends DeviceHealth {
    CudaHealth() {
        super("close the loader and restart the process; see the kernel's log for Xid messages");
    }

    @Override
    protected Failure describe(String call, int result) {
        return failure(call, result);
    }

    @Override
    protected String nameOf(int result) {
        return name(result);
    }

    @Override
    protected boolean isFinal(int result) {
        return CudaCalls.isSticky(result);
    }

    static Failure failure(String call, int result) {
        return Failure.of(CudaCalls.code(result), "CUDA call failed")
                .with("call", call)
                .with("code", name(result));
    }

    static String name(int result) {
        return LibCuda.nameOf(result) + "(" + result + ")";
    }
}
