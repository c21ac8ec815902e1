package dev.larder.loader.cuda.device;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.loader.device.DeviceKernel;
import dev.larder.loader.device.DeviceMemory;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import dev.larder.loader.device.HostMemory;
import dev.larder.loader.internal.cuda.LibCuda;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.agrona.BufferUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** A stream, of its own or of the consumer. */
final class CudaQueue implements DeviceQueue, AutoCloseable {
    private static final Logger LOG = Logs.of(CudaQueue.class);
    private static final int NOT_READY = 600;

    /** Buffers that a device may still write into although nobody waits for it any more. */
    private static final Queue<ByteBuffer> ABANDONED = new ConcurrentLinkedQueue<>();

    private final CudaSession session;
    private final long stream;
    private final boolean own;
    private boolean closed;

    private CudaQueue(CudaSession session, long stream, boolean own) {
        this.session = session;
        this.stream = stream;
        this.own = own;
    }

    /** Creates a stream, which closing destroys. */
    static CudaQueue create(CudaSession session) {
        return new CudaQueue(session, session.createStream(), true);
    }

    /** Takes a stream of the consumer, whose it stays. */
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
            throw session.health
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
            throw new IllegalArgumentException("a call of another backend: " + call);
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
            throw new IllegalArgumentException("a fence of another backend: " + fence);
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
     * Waits for the queue first, and then copies by another stream, which nobody has wait: the driver blocks in the call that copies to memory of
     * Java, for as long as that has to wait, and there is no deadline for it.
     */
    @Override
    public void read(DeviceMemory from, long fromOffset, ByteBuffer target) {
        if (!target.isDirect()) {
            throw new IllegalArgumentException("not a direct buffer: " + target);
        }
        if (target.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        Objects.checkFromIndexSize(fromOffset, target.remaining(), from.byteSize());
        long source = CudaMemory.of(from, session).handle() + fromOffset;
        if (!target.hasRemaining()) {
            return;
        }
        try (Fence before = fence()) {
            before.await(session.settings.patience());
        }
        session.copies().copyTo(target, source);
    }

    private void copyTo(ByteBuffer target, long source) {
        long address = BufferUtil.address(target) + target.position();
        session.enter();
        try {
            session.require(
                    "cuMemcpyDtoHAsync", LibCuda.cuMemcpyDtoHAsync_v2(address, source, target.remaining(), stream));
        } finally {
            session.leave();
        }
        try (Fence done = fence()) {
            done.await(session.settings.patience());
        } catch (LarderException e) {
            if (!drain(Duration.ZERO)) {
                ABANDONED.add(target);
            }
            throw e;
        }
    }

    /** Fills memory with a byte, and waits until that is done. */
    void fill(CudaMemory memory, byte value) {
        session.enter();
        try {
            session.require("cuMemsetD8Async", memory.fill(value, stream));
        } finally {
            session.leave();
        }
        if (!drain(session.settings.patience())) {
            throw Failure.of(ErrorCode.DEADLINE, "device did not reach the fence in time")
                    .with("device", session.info)
                    .with("timeout", session.settings.patience().toMillis() + "ms")
                    .remedy("check whether the device is busy or hangs");
        }
    }

    @Override
    public @Nullable Object nativeObject() {
        return null;
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("closed: queue of device=" + session.info);
        }
        session.requireOpen();
    }

    @Override
    public boolean drain(Duration timeout) {
        long start = System.nanoTime();
        boolean interrupted = false;
        while (!isIdle()) {
            long waited = System.nanoTime() - start;
            if (waited >= timeout.toNanos()) {
                LOG.debug("queue not drained: device={}", session.info);
                return false;
            }
            interrupted |= Thread.interrupted(); // a pause would end at once
            Fence.pause(waited);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return true;
    }

    /** Tells whether all is over: where the device is lost, nothing is under way any more. */
    private synchronized boolean isIdle() {
        return closed || session.resultOf(() -> LibCuda.cuStreamQuery(stream)) != NOT_READY;
    }

    /** Gives up the stream, which goes when its work is done. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            if (own) {
                session.free("cuStreamDestroy", () -> LibCuda.cuStreamDestroy_v2(stream));
            }
        }
    }

    @Override
    public String toString() {
        return "CudaQueue{" + session.info + "}";
    }
}
