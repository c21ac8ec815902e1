package dev.larder.loader.opencl;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.NativeSession;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jocl.CL;
import org.jocl.cl_mem;
import org.slf4j.Logger;

/** Host memory that the driver allocated, mapped as a whole. */
final class PinnedMemory implements HostMemory {
    private static final Logger LOG = Logs.of(PinnedMemory.class);

    private final Session session;
    private final cl_mem buffer;
    private final long mapped;
    private final ByteBuffer bytes;
    private final long address;
    private volatile boolean closed;

    private PinnedMemory(Session session, cl_mem buffer, ByteBuffer map, int byteSize) {
        this.session = session;
        this.buffer = buffer;
        this.mapped = LibOpenCl.address(map);
        this.bytes = map.slice(offsetOfPage(map), byteSize);
        this.address = LibOpenCl.address(bytes);
        LiveObjects.added(LiveObjects.Kind.MAPPING);
    }

    /** Allocates zeroed memory that is aligned to pages, even if the driver's memory is not. */
    static PinnedMemory allocate(Session session, int byteSize) {
        Session apart = session.apart();
        try {
            long flags = CL.CL_MEM_READ_WRITE | CL.CL_MEM_ALLOC_HOST_PTR;
            cl_mem buffer = OpenClMemory.create(apart, flags, (long) byteSize + ALIGNMENT, null);
            try (OpenClQueue queue = apart.createQueue(false)) {
                ByteBuffer map = queue.map(buffer, (long) byteSize + ALIGNMENT);
                PinnedMemory memory = new PinnedMemory(session, buffer, map, byteSize);
                new UnsafeBuffer(memory.bytes).setMemory(0, byteSize, (byte) 0);
                return memory;
            } catch (Throwable e) {
                Jocl.code(() -> CL.clReleaseMemObject(buffer));
                throw e;
            }
        } catch (LarderException e) {
            throw apart.health().isOutOfMemory() ? noSpace(session, byteSize, e) : e;
        }
    }

    private static LarderException noSpace(Session session, int byteSize, LarderException cause) {
        return Failure.of(ErrorCode.NO_SPACE, "cannot allocate host memory for the device")
                .with("device", session.info())
                .with("needed", byteSize)
                .cause(cause)
                .remedy("raise `ulimit -l` and the container's memory, or use fewer or smaller batches");
    }

    private static int offsetOfPage(ByteBuffer map) {
        return (int) (-LibOpenCl.address(map) & (ALIGNMENT - 1));
    }

    @Override
    public ByteBuffer bytes() {
        requireOpen();
        return bytes;
    }

    /** Returns the address of the bytes. */
    long address() {
        requireOpen();
        return address;
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("closed: host memory of device=" + session.info());
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        NativeSession.State state = session.state();
        if (state == NativeSession.State.STUCK) {
            return;
        }
        LiveObjects.removed(LiveObjects.Kind.MAPPING);
        if (state == NativeSession.State.OPEN && !session.health().isLost()) {
            unmap();
        }
        Jocl.code(() -> CL.clReleaseMemObject(buffer));
    }

    private void unmap() {
        try (OpenClQueue queue = session.apart().createQueue(false)) {
            queue.unmap(buffer, mapped);
        } catch (LarderException e) {
            LOG.warn("cannot unmap: device={} reason={}", session.info(), e.getMessage());
        }
    }
}
