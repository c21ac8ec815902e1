package dev.larder.loader.cuda.device;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.cuda.LibCuda;
import dev.larder.loader.internal.device.KernelSource;
import java.util.HashMap;
import java.util.Map;

/** The modules of a backend, one for each source. */
final class CudaModules implements AutoCloseable {
    private static final byte[] FUNCTION = (KernelSource.FUNCTION + '\0').getBytes(UTF_8);

    private final CudaSession session;
    private final Nvrtc compiler;
    private final int computeCapability;
    private final Map<String, Long> loaded = new HashMap<>();

    CudaModules(CudaSession session, Nvrtc compiler, int computeCapability) {
        this.session = session;
        this.compiler = compiler;
        this.computeCapability = computeCapability;
    }

    synchronized CudaKernel compile(KernelSource kernel) {
        session.requireOpen();
        String source = kernel.text();
        Long known = loaded.get(source);
        byte[] image = known != null ? new byte[0] : compiler.compile(source, computeCapability);
        session.enter();
        try {
            long module = known != null ? known : load(image);
            loaded.put(source, module);
            long[] function = new long[1];
            session.require("cuModuleGetFunction", LibCuda.cuModuleGetFunction(function, module, FUNCTION));
            return new CudaKernel(session, kernel, function[0]);
        } finally {
            session.leave();
        }
    }

    private long load(byte[] image) {
        long[] module = new long[1];
        int result = LibCuda.cuModuleLoadData(module, image);
        if (result != 0) {
            session.health().failed("cuModuleLoadData", result);
            throw Failure.of(ErrorCode.UNEXPECTED, "the driver does not load a kernel")
                    .with("device", session.info())
                    .with("code", CudaHealth.name(result))
                    .with("driver", session.info().driver())
                    .with("compiler", compiler)
                    .remedy("set $LARDER_NVRTC to a libnvrtc that is no newer than the driver, or update the driver");
        }
        return module[0];
    }

    @Override
    public synchronized void close() {
        for (long module : loaded.values()) {
            session.free("cuModuleUnload", () -> LibCuda.cuModuleUnload(module));
        }
        loaded.clear();
    }
}
