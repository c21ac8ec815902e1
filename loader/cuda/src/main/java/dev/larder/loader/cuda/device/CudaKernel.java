package dev.larder.loader.cuda.device;

import dev.larder.loader.device.DeviceKernel;
import dev.larder.loader.device.DeviceMemory;
import dev.larder.loader.device.KernelSource;
import dev.larder.loader.internal.cuda.LibCuda;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A function of a module, which its backend unloads. */
final class CudaKernel implements DeviceKernel {
    private static final int MAX_THREADS_PER_BLOCK = 0;

    private final CudaSession session;
    private final KernelSource kernel;
    private final long function;
    private final int mostItemsTogether;

    /** To be called in the context. */
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
        session.requireOpen();
        KernelSource.Rows rows = kernel.rows();
        if (sources.size() != rows.shards()) {
            throw new IllegalArgumentException("shards=" + rows.shards() + " sources=" + sources.size());
        }
        if ((control == null) != (kernel.controlInts() == 0)) {
            throw new IllegalArgumentException("controlInts=" + kernel.controlInts() + " control=" + control);
        }
        long samples = target.byteSize() / kernel.rowByteSize();
        if (control != null) {
            samples = Math.min(samples, control.byteSize() / ((long) kernel.controlInts() * Integer.BYTES));
        }
        if (!rows.located()) {
            samples = Math.min(samples, sources.get(0).byteSize() / kernel.storedByteSize());
        }
        return new CudaKernelCall(
                session,
                function,
                new CudaKernelCall.Arguments(
                        control == null ? null : CudaMemory.of(control, session),
                        CudaMemory.of(target, session),
                        sources.stream()
                                .map(source -> CudaMemory.of(source, session))
                                .toList(),
                        samples),
                CudaKernelCall.Groups.of(kernel.itemsPerSample(), mostItemsTogether));
    }
}
