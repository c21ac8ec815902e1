package dev.larder.loader.internal.device;

import dev.larder.internal.error.Logs;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.device.DeviceInfo;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.agrona.BufferUtil;
import org.slf4j.Logger;

/** A device of a native library with queues for the consumer, uploads and kernels. */
public abstract class NativeBackend implements DeviceBackend {
    private static final Logger LOG = Logs.of(NativeBackend.class);
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(10);
    private static final int MOST_HOST_BYTES = Integer.MAX_VALUE - 2 * HostMemory.ALIGNMENT;

    private final NativeSession session;
    private final List<NativeQueue> queues;
    private final boolean consumersOwn;

    /**
     * Takes ownership of an open device.
     *
     * @param queues the queues for the consumer, uploads and kernels, in this order, then other queues to close with the backend
     * @param consumersOwn whether the consumer owns the first queue and may submit work to it at any time
     */
    protected NativeBackend(NativeSession session, List<? extends NativeQueue> queues, boolean consumersOwn) {
        this.session = session;
        this.queues = List.copyOf(queues);
        this.consumersOwn = consumersOwn;
    }

    @Override
    public final DeviceInfo info() {
        return session.info();
    }

    @Override
    public final HostMemory allocate(long byteSize) {
        session.requireOpen();
        if (byteSize < 1 || byteSize > MOST_HOST_BYTES) {
            throw new IllegalArgumentException("byteSize=" + byteSize + " most=" + MOST_HOST_BYTES);
        }
        return allocateHost((int) byteSize);
    }

    @Override
    public final DeviceMemory allocateDevice(long byteSize) {
        session.requireOpen();
        if (byteSize < 1) {
            throw new IllegalArgumentException("byteSize=" + byteSize);
        }
        return allocateMemory(byteSize);
    }

    @Override
    public final Optional<DeviceMemory> share(ByteBuffer pages) {
        session.requireOpen();
        if (!pages.isDirect() || !pages.hasRemaining()) {
            throw new IllegalArgumentException("not direct, or empty: " + pages);
        }
        if ((BufferUtil.address(pages) + pages.position()) % HostMemory.ALIGNMENT != 0) {
            throw new IllegalArgumentException("not page-aligned: " + pages);
        }
        return info().unifiedMemory() ? sharePages(pages) : Optional.empty();
    }

    /** Allocates host memory from which the device copies at full speed. */
    protected abstract HostMemory allocateHost(int byteSize);

    /** Allocates device memory. */
    protected abstract DeviceMemory allocateMemory(long byteSize);

    /** Lets kernels read pages in place; returns empty if the driver does not accept them. */
    protected abstract Optional<DeviceMemory> sharePages(ByteBuffer pages);

    @Override
    public final WorkQueue consumer() {
        return queues.get(0);
    }

    @Override
    public final WorkQueue uploads() {
        return queues.get(1);
    }

    @Override
    public final WorkQueue kernels() {
        return queues.get(2);
    }

    /**
     * Waits for work in flight, except in a queue that the consumer owns. If the work does not end in time, all memory that the
     * driver may use stays allocated.
     */
    @Override
    public final void close() {
        if (!session.begin(NativeSession.State.OPEN, NativeSession.State.CLOSING)) {
            return;
        }
        if (!isDrained()) {
            session.begin(NativeSession.State.CLOSING, NativeSession.State.STUCK);
            LOG.warn("device did not finish its work in time, its memory stays allocated: device={}", info());
            return;
        }
        session.begin(NativeSession.State.CLOSING, NativeSession.State.CLOSED);
        releaseKernels();
        queues.forEach(NativeQueue::close);
        session.release();
    }

    private boolean isDrained() {
        Duration patience = session.patience();
        Deadline deadline = Deadline.after(patience.compareTo(LONGEST_CLOSE) < 0 ? patience : LONGEST_CLOSE);
        boolean drained = true;
        for (NativeQueue queue : queues.subList(consumersOwn ? 1 : 0, queues.size())) {
            drained &= queue.drain(deadline.remaining());
        }
        return drained;
    }

    /** Releases compiled kernels. Called when no work is in flight. */
    protected abstract void releaseKernels();

    /** Closes queues and releases the session, for a backend that could not open completely. */
    protected static void closeAll(List<? extends NativeQueue> queues, NativeSession session) {
        queues.forEach(NativeQueue::close);
        session.release();
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "{" + info() + "}";
    }
}
