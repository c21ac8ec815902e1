package dev.larder.loader.opencl;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.device.DeviceKernel;
import dev.larder.loader.device.DeviceMemory;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import dev.larder.loader.device.HostMemory;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jocl.CL;
import org.jocl.Pointer;
import org.jocl.cl_command_queue;
import org.jocl.cl_event;
import org.jocl.cl_mem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A command queue, of which this owns one reference. */
final class OpenClQueue implements DeviceQueue, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OpenClQueue.class);

    /** Buffers that a device may still write into although nobody waits for it any more. */
    private static final Queue<ByteBuffer> ABANDONED = new ConcurrentLinkedQueue<>();

    private final Session session;
    private final cl_command_queue queue;
    private boolean closed;

    OpenClQueue(Session session, cl_command_queue queue) {
        this.session = session;
        this.queue = queue;
    }

    @Override
    public synchronized void upload(HostMemory from, long fromOffset, DeviceMemory to, long toOffset, long byteSize) {
        requireOpen();
        Objects.checkFromIndexSize(fromOffset, byteSize, from.bytes().capacity());
        Objects.checkFromIndexSize(toOffset, byteSize, to.byteSize());
        long target = OpenClMemory.of(to, session).handle();
        long address = from instanceof PinnedMemory pinned ? pinned.address() : LibOpenCl.address(from.bytes());
        long done = 0;
        while (done < byteSize) {
            long piece = Math.min(byteSize - done, session.options().uploadPieceBytes());
            int code = LibOpenCl.clEnqueueWriteBuffer(
                    queue.getNativePointer(), target, 0, toOffset + done, piece, address + fromOffset + done, 0, 0, 0);
            if (code != CL.CL_SUCCESS) {
                throw session.health()
                        .failed("clEnqueueWriteBuffer", code)
                        .with("offset", toOffset + done)
                        .with("bytes", piece)
                        .with("memory", to)
                        .exception();
            }
            done += piece;
        }
    }

    @Override
    public synchronized void launch(DeviceKernel.Call call, int samples) {
        requireOpen();
        if (!(call instanceof KernelCall own)) {
            throw new IllegalArgumentException("a call of another backend: " + call);
        }
        own.launch(session, queue, samples);
    }

    @Override
    public synchronized void waitFor(Fence fence) {
        requireOpen();
        if (fence instanceof OpenClFence own) {
            own.holdBack(session.context(), queue);
        } else if (fence != Fence.passed()) {
            throw new IllegalArgumentException("a fence of another backend: " + fence);
        }
    }

    @Override
    public synchronized Fence fence() {
        requireOpen();
        return mark();
    }

    private Fence mark() {
        cl_event event = new cl_event();
        int code = Jocl.code(() -> CL.clEnqueueMarkerWithWaitList(queue, 0, null, event));
        if (code != CL.CL_SUCCESS) {
            throw session.health().failed("clEnqueueMarkerWithWaitList", code).exception();
        }
        Fence fence = new OpenClFence(session.context(), session.health(), event);
        code = Jocl.code(() -> CL.clFlush(queue));
        if (code != CL.CL_SUCCESS) {
            fence.close();
            throw session.health().failed("clFlush", code).exception();
        }
        return fence;
    }

    @Override
    public void read(DeviceMemory from, long fromOffset, ByteBuffer target) {
        if (!target.isDirect()) {
            throw new IllegalArgumentException("not a direct buffer: " + target);
        }
        if (target.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        if (!target.hasRemaining()) {
            return;
        }
        try (Fence done = beginRead(from, fromOffset, target)) {
            done.await(session.options().patience());
        } catch (LarderException e) {
            if (e.code() != ErrorCode.UNEXPECTED) {
                ABANDONED.add(target);
            }
            throw e;
        }
    }

    private synchronized Fence beginRead(DeviceMemory from, long fromOffset, ByteBuffer target) {
        requireOpen();
        Objects.checkFromIndexSize(fromOffset, target.remaining(), from.byteSize());
        long source = OpenClMemory.of(from, session).handle();
        long address = LibOpenCl.address(target) + target.position();
        int code = LibOpenCl.clEnqueueReadBuffer(
                queue.getNativePointer(), source, 0, fromOffset, target.remaining(), address, 0, 0, 0);
        if (code != CL.CL_SUCCESS) {
            throw session.health()
                    .failed("clEnqueueReadBuffer", code)
                    .with("offset", fromOffset)
                    .with("bytes", target.remaining())
                    .with("memory", from)
                    .exception();
        }
        return mark();
    }

    /** Fills memory with a byte, and waits until that is done. */
    synchronized void fill(OpenClMemory memory, byte value) {
        Pointer pattern = Pointer.to(new byte[] {value});
        int code = Jocl.code(() ->
                CL.clEnqueueFillBuffer(queue, memory.nativeObject(), pattern, 1, 0, memory.byteSize(), 0, null, null));
        if (code != CL.CL_SUCCESS) {
            throw session.health().failed("clEnqueueFillBuffer", code).exception();
        }
        finish();
    }

    /** Maps all of a buffer into memory of the host, and waits until that is done. */
    synchronized ByteBuffer map(cl_mem buffer, long byteSize) {
        int[] code = new int[1];
        ByteBuffer[] map = new ByteBuffer[1];
        long flags = CL.CL_MAP_READ | CL.CL_MAP_WRITE;
        int thrown = Jocl.code(() -> {
            map[0] = CL.clEnqueueMapBuffer(queue, buffer, true, flags, 0, byteSize, 0, null, null, code);
            return code[0];
        });
        if (thrown != CL.CL_SUCCESS || map[0] == null) {
            throw session.health().failed("clEnqueueMapBuffer", thrown).exception();
        }
        return map[0];
    }

    /** Ends a mapping, and waits until that is done. */
    synchronized void unmap(cl_mem buffer, long address) {
        int code = LibOpenCl.clEnqueueUnmapMemObject(
                queue.getNativePointer(), buffer.getNativePointer(), address, 0, 0, 0);
        if (code != CL.CL_SUCCESS) {
            throw session.health().failed("clEnqueueUnmapMemObject", code).exception();
        }
        finish();
    }

    private void finish() {
        try (Fence done = mark()) {
            done.await(session.options().patience());
        }
    }

    @Override
    public cl_command_queue nativeObject() {
        return queue;
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("closed: queue of device=" + session.info());
        }
        session.require();
    }

    /** Waits for what was given; tells whether that got done, or failed. */
    synchronized boolean drain(Duration timeout) {
        if (closed || session.health().isLost()) {
            return true;
        }
        try (Fence done = mark()) {
            done.await(timeout);
            return true;
        } catch (LarderException e) {
            LOG.debug("queue not drained: device={} reason={}", session.info(), e.getMessage());
            return e.code() == ErrorCode.UNEXPECTED;
        }
    }

    /** Gives up the queue, which goes when its work is done. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            LiveObjects.removed(LiveObjects.Kind.QUEUE);
            Jocl.code(() -> CL.clReleaseCommandQueue(queue));
        }
    }
}
