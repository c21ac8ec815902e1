package dev.larder.loader.cuda.device;

import dev.larder.internal.error.Logs;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.device.DeviceBackend;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceKernel;
import dev.larder.loader.device.DeviceMemory;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import dev.larder.loader.device.HostMemory;
import dev.larder.loader.device.KernelSource;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.agrona.BufferUtil;
import org.slf4j.Logger;

/** A CUDA device, with streams for uploads, for kernels, for the consumer and for copies that the host waits for. */
final class CudaBackend implements DeviceBackend {
    private static final Logger LOG = Logs.of(CudaBackend.class);
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(10);
    private static final int MOST_HOST_BYTES = Integer.MAX_VALUE - 2 * HostMemory.ALIGNMENT;

    private final CudaSession session;
    private final CudaModules modules;

    /** The consumer's, that for uploads, that for kernels, that for copies. */
    private final List<CudaQueue> queues;

    private final boolean consumersOwn;

    private CudaBackend(CudaSession session, CudaModules modules, List<CudaQueue> queues, boolean consumersOwn) {
        this.session = session;
        this.modules = modules;
        this.queues = queues;
        this.consumersOwn = consumersOwn;
    }

    /** Opens a device, with a stream of the consumer's own where there is one. */
    static CudaBackend open(CudaDevices.Found found, CudaSettings settings, OptionalLong consumersStream) {
        Nvrtc compiler = Nvrtc.system(); // without it the device is of no use: say so before taking its memory
        CudaSession session = CudaSession.open(found, settings);
        List<CudaQueue> queues = new ArrayList<>();
        try {
            consumersStream.ifPresent(stream -> queues.add(CudaQueue.of(session, stream)));
            while (queues.size() < 4) {
                queues.add(CudaQueue.create(session));
            }
            session.copies(queues.get(3));
            CudaModules modules = new CudaModules(session, compiler, found.computeCapability());
            return new CudaBackend(session, modules, List.copyOf(queues), consumersStream.isPresent());
        } catch (Throwable e) {
            queues.forEach(CudaQueue::close);
            session.release();
            throw e;
        }
    }

    @Override
    public DeviceInfo info() {
        return session.info;
    }

    @Override
    public HostMemory allocate(long byteSize) {
        session.requireOpen();
        if (byteSize < 1 || byteSize > MOST_HOST_BYTES) {
            throw new IllegalArgumentException("byteSize=" + byteSize + " most=" + MOST_HOST_BYTES);
        }
        return CudaHostMemory.allocate(session, byteSize);
    }

    @Override
    public DeviceMemory allocateDevice(long byteSize) {
        session.requireOpen();
        if (byteSize < 1) {
            throw new IllegalArgumentException("byteSize=" + byteSize);
        }
        return CudaMemory.allocate(session, byteSize);
    }

    @Override
    public Optional<DeviceMemory> share(ByteBuffer pages) {
        session.requireOpen();
        if (!pages.isDirect() || !pages.hasRemaining()) {
            throw new IllegalArgumentException("not direct, or empty: " + pages);
        }
        if ((BufferUtil.address(pages) + pages.position()) % HostMemory.ALIGNMENT != 0) {
            throw new IllegalArgumentException("not page-aligned: " + pages);
        }
        return session.info.unifiedMemory() ? Optional.of(CudaMemory.share(session, pages)) : Optional.empty();
    }

    @Override
    public DeviceKernel compile(KernelSource kernel) {
        return modules.compile(kernel);
    }

    @Override
    public DeviceQueue consumer() {
        return queues.get(0);
    }

    @Override
    public DeviceQueue uploads() {
        return queues.get(1);
    }

    @Override
    public DeviceQueue kernels() {
        return queues.get(2);
    }

    @Override
    public boolean accepts(Fence fence) {
        return fence == Fence.passed() || (fence instanceof CudaFence own && own.isOf(session));
    }

    /**
     * Waits for work that is under way, but not for that of a stream that is the consumer's own. What does not get done is left to
     * the driver with all that it may use.
     */
    @Override
    public void close() {
        synchronized (session) {
            if (session.state != CudaSession.State.OPEN) {
                return;
            }
            session.state = drained() ? CudaSession.State.CLOSED : CudaSession.State.STUCK;
        }
        if (session.state == CudaSession.State.STUCK) {
            LOG.warn("device does not finish its work, its memory stays allocated: device={}", session.info);
            return;
        }
        modules.close();
        session.events.close();
        queues.forEach(CudaQueue::close);
        session.release();
    }

    private boolean drained() {
        Duration patience = session.settings.patience();
        Deadline deadline = Deadline.after(patience.compareTo(LONGEST_CLOSE) < 0 ? patience : LONGEST_CLOSE);
        boolean drained = true;
        for (CudaQueue queue : queues.subList(consumersOwn ? 1 : 0, queues.size())) {
            drained &= queue.drain(deadline.remaining());
        }
        return drained;
    }

    @Override
    public String toString() {
        return "CudaBackend{" + session.info + "}";
    }
}
