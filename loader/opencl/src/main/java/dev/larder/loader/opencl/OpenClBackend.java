package dev.larder.loader.opencl;

import dev.larder.error.LarderException;
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
import org.slf4j.Logger;

/** An OpenCL device, with three queues in order. */
final class OpenClBackend implements DeviceBackend {
    private static final Logger LOG = Logs.of(OpenClBackend.class);
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(10);
    private static final int MOST_HOST_BYTES = Integer.MAX_VALUE - 2 * HostMemory.ALIGNMENT;

    private final Session session;
    private final Programs programs;
    private final List<OpenClQueue> queues;
    private final boolean consumersOwn;

    private OpenClBackend(Session session, List<OpenClQueue> queues, boolean consumersOwn) {
        this.session = session;
        this.programs = new Programs(session);
        this.queues = queues;
        this.consumersOwn = consumersOwn;
    }

    /** Opens a device; takes over its context's reference and the consumer's queue, where it has one of its own. */
    static OpenClBackend open(Session session, Optional<OpenClQueue> consumersQueue) {
        List<OpenClQueue> queues = new ArrayList<>();
        consumersQueue.ifPresent(queues::add);
        try {
            while (queues.size() < 3) {
                queues.add(session.createQueue(queues.isEmpty()));
            }
            return new OpenClBackend(session, List.copyOf(queues), consumersQueue.isPresent());
        } catch (Throwable e) {
            queues.forEach(OpenClQueue::close);
            session.release();
            throw e;
        }
    }

    @Override
    public DeviceInfo info() {
        return session.info();
    }

    @Override
    public HostMemory allocate(long byteSize) {
        session.require();
        if (byteSize < 1 || byteSize > MOST_HOST_BYTES) {
            throw new IllegalArgumentException("byteSize=" + byteSize + " most=" + MOST_HOST_BYTES);
        }
        return PinnedMemory.allocate(session, (int) byteSize);
    }

    @Override
    public DeviceMemory allocateDevice(long byteSize) {
        session.require();
        if (byteSize < 1) {
            throw new IllegalArgumentException("byteSize=" + byteSize);
        }
        return OpenClMemory.allocate(session, byteSize);
    }

    @Override
    public Optional<DeviceMemory> share(ByteBuffer pages) {
        session.require();
        if (!pages.isDirect() || !pages.hasRemaining()) {
            throw new IllegalArgumentException("not direct, or empty: " + pages);
        }
        if ((LibOpenCl.address(pages) + pages.position()) % HostMemory.ALIGNMENT != 0) {
            throw new IllegalArgumentException("not page-aligned: " + pages);
        }
        if (!session.info().unifiedMemory()) {
            return Optional.empty();
        }
        try {
            return Optional.of(OpenClMemory.share(session, pages));
        } catch (LarderException e) { // some drivers take only pages that may be written
            LOG.debug("pages cannot be shared: device={}", session.info(), e);
            return Optional.empty();
        }
    }

    @Override
    public DeviceKernel compile(KernelSource kernel) {
        return programs.compile(kernel);
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
        return fence == Fence.passed() || (fence instanceof OpenClFence own && own.isOf(session.context()));
    }

    /**
     * Waits for work that is under way, but not for that of a queue that is the consumer's own. What does not get done is left to
     * the driver with all that it may use.
     */
    @Override
    public void close() {
        if (!session.state().compareAndSet(Session.State.OPEN, Session.State.CLOSED)) {
            return;
        }
        Deadline deadline = Deadline.after(longestClose());
        boolean drained = true;
        for (OpenClQueue queue : queues.subList(consumersOwn ? 1 : 0, queues.size())) {
            drained &= queue.drain(deadline.remaining());
        }
        if (!drained) {
            session.state().set(Session.State.STUCK);
            LOG.warn("device does not finish its work, its memory stays allocated: device={}", session.info());
            return;
        }
        programs.close();
        queues.forEach(OpenClQueue::close);
        session.release();
    }

    private Duration longestClose() {
        Duration patience = session.options().patience();
        return patience.compareTo(LONGEST_CLOSE) < 0 ? patience : LONGEST_CLOSE;
    }

    @Override
    public String toString() {
        return "OpenClBackend{" + session.info() + "}";
    }
}
