package dev.larder.loader.cuda.device;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.cuda.LibCuda;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.NativeQueue;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.agrona.BufferUtil;
import org.jspecify.annotations.Nullable;

/** A stream, of the loader or of the consumer. */
final class CudaQueue extends NativeQueue {
    private static final int NOT_READY = 600;

    private final CudaSession session;
    private final long stream;
    private final boolean own;

    private CudaQueue(CudaSession session, long stream, boolean own) {
        super(session);
        this.session = session;
        this.stream = stream;
        this.own = own;
    }

    /** Creates a stream, and owns it. */
    static CudaQueue create(CudaSession session) {
        return new CudaQueue(session, session.createStream(), true);
    }

    /** Uses a stream that the consumer owns. */
    static CudaQueue of(CudaSession session, long stream) {
        return new CudaQueue(session, stream, false);
    }

    long stream() {
        return stream;
    }

    CudaSession session() {
        return session;
    }

    @Override
    public synchronized void upload(HostMemory from, long fromOffset, DeviceMemory to, long toOffset, long byteSize) {
        requireOpen();
        Objects.checkFromIndexSize(fromOffset, byteSize, from.bytes().capacity());
        Objects.checkFromIndexSize(toOffset, byteSize, to.byteSize());
        if (byteSize == 0) {
            return;
        }
        long target = CudaMemory.of(to, session).handle() + toOffset;
        long source = BufferUtil.address(from.bytes()) + fromOffset;
        int result;
        session.enter();
        try {
            result = LibCuda.cuMemcpyHtoDAsync_v2(target, source, byteSize, stream);
        } finally {
            session.leave();
        }
        if (result != 0) {
            throw session.health()
                    .failed("cuMemcpyHtoDAsync", result)
                    .with("offset", toOffset)
                    .with("bytes", byteSize)
                    .with("memory", to)
                    .exception();
        }
    }

    @Override
    public synchronized void launch(DeviceKernel.Call call, int samples) {
        requireOpen();
        if (!(call instanceof CudaKernelCall own)) {
            throw new IllegalArgumentException("call belongs to another backend: call=" + call);
        }
        own.launch(session, stream, samples);
    }

    @Override
    public synchronized void waitFor(Fence fence) {
        requireOpen();
        if (fence instanceof CudaFence own) {
            long event = own.eventUnlessPassed(session);
            if (event != 0) {
                waitFor(event);
            }
        } else if (fence != Fence.passed()) {
            throw new IllegalArgumentException("fence belongs to another backend: fence=" + fence);
        }
    }

    private void waitFor(long event) {
        session.enter();
        try {
            session.require("cuStreamWaitEvent", LibCuda.cuStreamWaitEvent(stream, event, 0));
        } finally {
            session.leave();
        }
    }

    @Override
    public synchronized Fence fence() {
        requireOpen();
        session.enter();
        try {
            long event = session.events.take();
            int result = LibCuda.cuEventRecord(event, stream);
            if (result != 0) {
                session.events.giveBack(event);
            }
            session.require("cuEventRecord", result);
            return new CudaFence(session, event, true);
        } finally {
            session.leave();
        }
    }

    /**
     * Waits for this queue first, and then reads in the session's queue for copies, which no other work uses: the driver blocks in a copy
     * to Java memory until earlier work is done, without a time limit.
     */
    @Override
    protected NativeQueue reader() {
        try (Fence before = fence()) {
            before.await(session.patience());
        }
        return session.copies();
    }

    @Override
    protected Fence beginRead(DeviceMemory from, long fromOffset, ByteBuffer target) {
        long source = CudaMemory.of(from, session).handle() + fromOffset;
        long address = BufferUtil.address(target) + target.position();
        session.enter();
        try {
            session.require(
                    "cuMemcpyDtoHAsync", LibCuda.cuMemcpyDtoHAsync_v2(address, source, target.remaining(), stream));
        } finally {
            session.leave();
        }
        return fence();
    }

    /** Fills memory with a byte, and waits until that is done. */
    void fill(CudaMemory memory, byte value) {
        session.enter();
        try {
            session.require("cuMemsetD8Async", memory.fill(value, stream));
        } finally {
            session.leave();
        }
        if (!drain(session.patience())) {
            throw late(session.patience());
        }
    }

    @Override
    public @Nullable Object nativeObject() {
        return null;
    }

    /** Returns true if the device is lost, because it then runs no work. */
    @Override
    protected boolean isIdle() {
        return session.resultOf(() -> LibCuda.cuStreamQuery(stream)) != NOT_READY;
    }

    /** Releases the stream; the driver destroys it after its work. */
    @Override
    protected void release() {
        if (own) {
            session.free("cuStreamDestroy", () -> LibCuda.cuStreamDestroy_v2(stream));
        }
    }
}
