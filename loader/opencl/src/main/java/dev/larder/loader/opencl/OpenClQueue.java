package dev.larder.loader.opencl;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.NativeQueue;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import org.jocl.CL;
import org.jocl.Pointer;
import org.jocl.cl_command_queue;
import org.jocl.cl_event;
import org.jocl.cl_mem;
import org.jspecify.annotations.Nullable;

/** A command queue. Owns one reference to it. */
final class OpenClQueue extends NativeQueue {
    /** The longest wait to close a piece of staging memory. */
    private static final Duration LONGEST_UNMAP = Duration.ofSeconds(2);

    private final Session session;
    private final cl_command_queue queue;
    private final boolean shared;
    private final Events events = new Events();
    private final WaitList waits = new WaitList();
    private final long[] created = new long[1];

    /** The event of the last command, if JOCL has an object for it. */
    private @Nullable cl_event last;

    /**
     * Owns a reference to a queue.
     *
     * @param shared whether other code adds work that this does not see
     */
    OpenClQueue(Session session, cl_command_queue queue, boolean shared) {
        super(session);
        this.session = session;
        this.queue = queue;
        this.shared = shared;
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
                    queue.getNativePointer(),
                    target,
                    0,
                    toOffset + done,
                    piece,
                    address + fromOffset + done,
                    waits.count(),
                    waits.handles(),
                    created);
            if (code != CL.CL_SUCCESS) {
                throw session.health()
                        .failed("clEnqueueWriteBuffer", code)
                        .with("offset", toOffset + done)
                        .with("bytes", piece)
                        .with("memory", to)
                        .exception();
            }
            given(created[0], null);
            done += piece;
        }
    }

    /** Stores the event of a command that was added to the queue. */
    private void given(long event, @Nullable cl_event object) {
        events.add(event);
        last = object;
        waits.clear();
    }

    @Override
    public synchronized void launch(DeviceKernel.Call call, int samples) {
        requireOpen();
        if (!(call instanceof KernelCall own)) {
            throw new IllegalArgumentException("call belongs to another backend: call=" + call);
        }
        own.prepare(session, samples);
        for (long first = 0; first < samples; first += own.mostSamplesAtOnce()) {
            cl_event event = own.launch(queue, waits, first, samples);
            given(event.getNativePointer(), event);
        }
    }

    @Override
    public synchronized void waitFor(Fence fence) {
        requireOpen();
        if (fence instanceof OpenClFence own) {
            cl_event event = own.retainedUnlessPassed(session.context());
            if (event != null) {
                waits.add(event);
            }
            if (shared && event != null) {
                barrier();
            }
        } else if (fence != Fence.passed()) {
            throw new IllegalArgumentException("fence belongs to another backend: fence=" + fence);
        }
    }

    /** Adds a barrier, so that work of the consumer in this queue also waits. */
    private void barrier() {
        cl_event event = new cl_event();
        int code = Jocl.code(() -> CL.clEnqueueBarrierWithWaitList(queue, waits.count(), waits.events(), event));
        require("clEnqueueBarrierWithWaitList", code);
        given(event.getNativePointer(), event);
    }

    @Override
    public synchronized Fence fence() {
        requireOpen();
        return mark();
    }

    /** Returns a fence after the last command: its event, or that of a marker. */
    private OpenClFence mark() {
        cl_event event = last;
        if (event == null || shared || waits.count() > 0) {
            event = marker();
        }
        require("clFlush", Jocl.code(() -> CL.clFlush(queue)));
        Events.retain(event);
        return new OpenClFence(session.context(), session.health(), event);
    }

    private cl_event marker() {
        cl_event event = new cl_event();
        require(
                "clEnqueueMarkerWithWaitList",
                Jocl.code(() -> CL.clEnqueueMarkerWithWaitList(queue, waits.count(), waits.events(), event)));
        given(event.getNativePointer(), event);
        return event;
    }

    private void require(String call, int code) {
        if (code != CL.CL_SUCCESS) {
            throw session.health().failed(call, code).exception();
        }
    }

    @Override
    protected synchronized Fence beginRead(DeviceMemory from, long fromOffset, ByteBuffer target) {
        requireOpen();
        long source = OpenClMemory.of(from, session).handle();
        long address = LibOpenCl.address(target) + target.position();
        int code = LibOpenCl.clEnqueueReadBuffer(
                queue.getNativePointer(),
                source,
                0,
                fromOffset,
                target.remaining(),
                address,
                waits.count(),
                waits.handles(),
                created);
        if (code != CL.CL_SUCCESS) {
            throw session.health()
                    .failed("clEnqueueReadBuffer", code)
                    .with("offset", fromOffset)
                    .with("bytes", target.remaining())
                    .with("memory", from)
                    .exception();
        }
        given(created[0], null);
        return mark();
    }

    /** Fills memory with a byte, and waits until that is done. */
    synchronized void fill(OpenClMemory memory, byte value) {
        Pointer pattern = Pointer.to(new byte[] {value});
        int code = Jocl.code(() ->
                CL.clEnqueueFillBuffer(queue, memory.nativeObject(), pattern, 1, 0, memory.byteSize(), 0, null, null));
        require("clEnqueueFillBuffer", code);
        finish(session.patience());
    }

    /**
     * Maps a whole buffer into host memory, and waits for it with a time limit, which a blocking call would not have.
     */
    synchronized ByteBuffer map(cl_mem buffer, long byteSize) {
        int[] code = new int[1];
        ByteBuffer[] map = new ByteBuffer[1];
        cl_event event = new cl_event();
        long flags = CL.CL_MAP_READ | CL.CL_MAP_WRITE;
        int thrown = Jocl.code(() -> {
            map[0] = CL.clEnqueueMapBuffer(
                    queue, buffer, false, flags, 0, byteSize, waits.count(), waits.events(), event, code);
            return code[0];
        });
        if (thrown != CL.CL_SUCCESS || map[0] == null) {
            throw session.health().failed("clEnqueueMapBuffer", thrown).exception();
        }
        given(event.getNativePointer(), event);
        finish(session.patience());
        return map[0];
    }

    /** Ends a mapping, and waits until that is done. */
    synchronized void unmap(cl_mem buffer, long address) {
        int code = LibOpenCl.clEnqueueUnmapMemObject(
                queue.getNativePointer(), buffer.getNativePointer(), address, 0, 0, 0);
        require("clEnqueueUnmapMemObject", code);
        finish(LONGEST_UNMAP);
    }

    private void finish(Duration patience) {
        try (OpenClFence done = mark()) {
            if (!done.awaitUninterruptibly(patience)) {
                throw late(patience);
            }
        }
    }

    Session session() {
        return session;
    }

    @Override
    public cl_command_queue nativeObject() {
        return queue;
    }

    /** Returns whether the last command has ended, after sending it to the device. */
    @Override
    protected boolean isIdle() {
        Jocl.code(() -> CL.clFlush(queue));
        return events.areOver();
    }

    /** Releases the queue; the driver destroys it after its work. */
    @Override
    protected void release() {
        waits.clear();
        events.clear();
        last = null;
        LiveObjects.removed(LiveObjects.Kind.QUEUE);
        Jocl.code(() -> CL.clReleaseCommandQueue(queue));
    }
}
