package dev.larder.loader.cuda.device;

import dev.larder.loader.internal.cuda.LibCuda;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.device.NativeCall.Arguments;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A function of a module. Its backend unloads the module. */
final class CudaKernel implements DeviceKernel {
    private static final int MAX_THREADS_PER_BLOCK = 0;

    private final CudaSession session;
    private final KernelSource kernel;
    private final long function;
    private final int mostItemsTogether;

    /** Call it in the context. */
    CudaKernel(CudaSession session, KernelSource kernel, long function) {
        this.session = session;
        this.kernel = kernel;
        this.function = function;
        int[] most = new int[1];
        session.require("cuFuncGetAttribute", LibCuda.cuFuncGetAttribute(most, MAX_THREADS_PER_BLOCK, function));
        this.mostItemsTogether = most[0];
    }

    @Override
    public Call bind(@Nullable DeviceMemory control, DeviceMemory target, List<DeviceMemory> sources) {
        return new CudaKernelCall(
                session,
                function,
                Arguments.of(session, CudaMemory.class, kernel, control, target, sources),
                CudaKernelCall.Groups.of(kernel.itemsPerSample(), mostItemsTogether));
    }
}
