package dev.larder.loader.cuda.device;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceLimits;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.device.NativeBackend;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A CUDA device, with streams for the consumer, for uploads, for kernels and for copies that the host waits for. */
final class CudaBackend extends NativeBackend {
    private final CudaSession session;
    private final CudaModules modules;

    private CudaBackend(CudaSession session, CudaModules modules, List<CudaQueue> queues, boolean consumersOwn) {
        super(session, queues, consumersOwn);
        this.session = session;
        this.modules = modules;
    }

    /** Opens a device, with the consumer's stream if there is one. */
    static CudaBackend open(CudaDevices.Found found, DeviceLimits limits, OptionalLong consumersStream) {
        Nvrtc compiler = Nvrtc.system(); // required: fail before memory of the device is allocated
        CudaSession session = CudaSession.open(found, limits);
        List<CudaQueue> queues = new ArrayList<>();
        try {
            consumersStream.ifPresent(stream -> queues.add(CudaQueue.of(session, stream)));
            while (queues.size() < 4) {
                queues.add(CudaQueue.create(session));
            }
            session.copies(queues.get(3));
            CudaModules modules = new CudaModules(session, compiler, found.computeCapability());
            return new CudaBackend(session, modules, queues, consumersStream.isPresent());
        } catch (Throwable e) {
            closeAll(queues, session);
            throw e;
        }
    }

    @Override
    protected HostMemory allocateHost(int byteSize) {
        return CudaHostMemory.allocate(session, byteSize);
    }

    @Override
    protected DeviceMemory allocateMemory(long byteSize) {
        return CudaMemory.allocate(session, byteSize);
    }

    @Override
    protected Optional<DeviceMemory> sharePages(ByteBuffer pages) {
        return Optional.of(CudaMemory.share(session, pages));
    }

    @Override
    public DeviceKernel compile(KernelSource kernel) {
        return modules.compile(kernel);
    }

    @Override
    public boolean accepts(Fence fence) {
        return fence == Fence.passed() || (fence instanceof CudaFence own && own.isOf(session));
    }

    @Override
    protected void releaseKernels() {
        modules.close();
    }
}
