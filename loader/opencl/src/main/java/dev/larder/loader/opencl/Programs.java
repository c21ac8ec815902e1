package dev.larder.loader.opencl;

import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.KernelSource;
import java.util.HashMap;
import java.util.Map;
import org.jocl.CL;
import org.jocl.cl_device_id;
import org.jocl.cl_program;

/** The programs of a context, each built once. */
final class Programs implements AutoCloseable {
    /** No option that changes rounding. */
    private static final String BUILD_OPTIONS = "-cl-std=CL1.2";

    private final Session session;
    private final Map<String, cl_program> built = new HashMap<>();

    Programs(Session session) {
        this.session = session;
    }

    synchronized OpenClKernel compile(KernelSource kernel) {
        session.requireOpen();
        String source = kernel.text();
        cl_program program = built.get(source);
        if (program == null) {
            program = build(source);
            built.put(source, program);
        }
        return new OpenClKernel(session, program, kernel);
    }

    cl_program build(String source) {
        cl_program program = Jocl.create(
                session.health(),
                "clCreateProgramWithSource",
                code -> CL.clCreateProgramWithSource(session.context(), 1, new String[] {source}, null, code));
        LiveObjects.added(LiveObjects.Kind.PROGRAM);
        cl_device_id[] devices = {session.device()};
        int code = Jocl.code(() -> CL.clBuildProgram(program, 1, devices, BUILD_OPTIONS, null, null));
        if (code != CL.CL_SUCCESS) {
            String log = log(program);
            release(program);
            throw session.health()
                    .failed("clBuildProgram", code)
                    .with("device", session.info())
                    .with("log", log.isEmpty() ? "none" : "\n" + log)
                    .exception();
        }
        return program;
    }

    private String log(cl_program program) {
        try {
            return Jocl.text(
                    (name, size, value, needed) ->
                            CL.clGetProgramBuildInfo(program, session.device(), name, size, value, needed),
                    CL.CL_PROGRAM_BUILD_LOG);
        } catch (LarderException e) { // the failure of the build matters more
            return "not available: " + e.getMessage();
        }
    }

    private static void release(cl_program program) {
        LiveObjects.removed(LiveObjects.Kind.PROGRAM);
        Jocl.code(() -> CL.clReleaseProgram(program));
    }

    @Override
    public synchronized void close() {
        built.values().forEach(Programs::release);
        built.clear();
    }
}
