package dev.larder.loader.opencl;

import dev.larder.loader.device.DeviceKernel;
import dev.larder.loader.device.DeviceMemory;
import dev.larder.loader.device.KernelSource;
import java.util.List;
import org.jocl.CL;
import org.jocl.cl_kernel;
import org.jocl.cl_program;
import org.jspecify.annotations.Nullable;

/** A program that was built. Its backend releases it. */
final class OpenClKernel implements DeviceKernel {
    private final Session session;
    private final cl_program program;
    private final KernelSource kernel;

    OpenClKernel(Session session, cl_program program, KernelSource kernel) {
        this.session = session;
        this.program = program;
        this.kernel = kernel;
    }

    @Override
    public Call bind(@Nullable DeviceMemory control, DeviceMemory target, List<DeviceMemory> sources) {
        session.require();
        Arguments arguments = Arguments.of(session, kernel, control, target, sources);
        cl_kernel function = Jocl.create(
                session.health(), "clCreateKernel", code -> CL.clCreateKernel(program, KernelSource.FUNCTION, code));
        KernelCall call = new KernelCall(session, function, arguments, kernel.itemsPerSample());
        try {
            call.set();
        } catch (Throwable e) {
            call.close();
            throw e;
        }
        return call;
    }

    /** What a kernel works on, checked. */
    record Arguments(@Nullable OpenClMemory control, OpenClMemory target, List<OpenClMemory> sources, long maxSamples) {
        static Arguments of(
                Session session,
                KernelSource kernel,
                @Nullable DeviceMemory control,
                DeviceMemory target,
                List<DeviceMemory> sources) {
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
            return new Arguments(
                    control == null ? null : OpenClMemory.of(control, session),
                    OpenClMemory.of(target, session),
                    sources.stream()
                            .map(source -> OpenClMemory.of(source, session))
                            .toList(),
                    samples);
        }

        void requireOpen() {
            if (control != null) {
                control.requireOpen();
            }
            target.requireOpen();
            for (int i = 0; i < sources.size(); i++) {
                sources.get(i).requireOpen();
            }
        }
    }
}
