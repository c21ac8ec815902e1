package dev.larder.loader.opencl;

import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.device.NativeCall.Arguments;
import java.util.List;
import org.jocl.CL;
import org.jocl.cl_kernel;
import org.jocl.cl_program;
import org.jspecify.annotations.Nullable;

/** A built program. Its backend releases it. */
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
        Arguments<OpenClMemory> arguments = Arguments.of(session, OpenClMemory.class, kernel, control, target, sources);
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
}
