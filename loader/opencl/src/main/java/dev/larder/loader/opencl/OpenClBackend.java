package dev.larder.loader.opencl;

import dev.larder.error.LarderException;
import dev.larder.internal.error.Logs;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.device.NativeBackend;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;

/** An OpenCL device, with three queues in order. */
final class OpenClBackend extends NativeBackend {
    private static final Logger LOG = Logs.of(OpenClBackend.class);

    private final Session session;
    private final Programs programs;

    private OpenClBackend(Session session, List<OpenClQueue> queues, boolean consumersOwn) {
        super(session, queues, consumersOwn);
        this.session = session;
        this.programs = new Programs(session);
    }

    /** Opens a device. Owns the reference to its context, and the consumer's queue if there is one. */
    static OpenClBackend open(Session session, Optional<OpenClQueue> consumersQueue) {
        List<OpenClQueue> queues = new ArrayList<>();
        consumersQueue.ifPresent(queues::add);
        try {
            while (queues.size() < 3) {
                queues.add(session.createQueue(queues.isEmpty()));
            }
            return new OpenClBackend(session, queues, consumersQueue.isPresent());
        } catch (Throwable e) {
            closeAll(queues, session);
            throw e;
        }
    }

    @Override
    protected HostMemory allocateHost(int byteSize) {
        return PinnedMemory.allocate(session, byteSize);
    }

    @Override
    protected DeviceMemory allocateMemory(long byteSize) {
        return OpenClMemory.allocate(session, byteSize);
    }

    @Override
    protected Optional<DeviceMemory> sharePages(ByteBuffer pages) {
        try {
            return Optional.of(OpenClMemory.share(session, pages));
        } catch (LarderException e) { // some drivers accept only writable pages
            LOG.debug("pages cannot be shared: device={}", session.info(), e);
            return Optional.empty();
        }
    }

    @Override
    public DeviceKernel compile(KernelSource kernel) {
        return programs.compile(kernel);
    }

    @Override
    public boolean accepts(Fence fence) {
        return fence == Fence.passed() || (fence instanceof OpenClFence own && own.isOf(session.context()));
    }

    @Override
    protected void releaseKernels() {
        programs.close();
    }
}
