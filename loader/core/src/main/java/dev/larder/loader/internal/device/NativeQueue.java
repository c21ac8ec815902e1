package dev.larder.loader.internal.device;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.loader.device.Fence;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;

/** A queue of a native library. Its methods hold its lock, except those that wait. */
public abstract class NativeQueue implements WorkQueue, AutoCloseable {
    private static final Logger LOG = Logs.of(NativeQueue.class);

    /** Targets of abandoned reads, kept reachable because the device may still write there. */
    private static final Queue<ByteBuffer> ABANDONED = new ConcurrentLinkedQueue<>();

    private final NativeSession session;
    private boolean closed;

    /** Creates a queue of a device. */
    protected NativeQueue(NativeSession session) {
        this.session = session;
    }

    /** Fails if the queue or its backend is closed, or the device is lost. The caller holds the lock. */
    protected final void requireOpen() {
        if (closed) {
            throw new IllegalStateException("closed: queue of device=" + session.info());
        }
        session.requireOpen();
    }

    @Override
    public final void read(DeviceMemory from, long fromOffset, ByteBuffer target) {
        if (!target.isDirect()) {
            throw new IllegalArgumentException("not a direct buffer: " + target);
        }
        if (target.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        Objects.checkFromIndexSize(fromOffset, target.remaining(), from.byteSize());
        if (!target.hasRemaining()) {
            return;
        }
        NativeQueue copies = reader();
        try (Fence done = copies.beginRead(from, fromOffset, target)) {
            done.await(session.patience());
        } catch (LarderException e) {
            if (!copies.drain(Duration.ZERO)) {
                ABANDONED.add(target);
            }
            throw e;
        }
    }

    /** Returns the queue that runs the reads of this one, ordered after the work in this queue. */
    protected NativeQueue reader() {
        return this;
    }

    /** Starts a copy into host memory. */
    protected abstract Fence beginRead(DeviceMemory from, long fromOffset, ByteBuffer target);

    @Override
    public final boolean drain(Duration timeout) {
        long start = System.nanoTime();
        boolean interrupted = false;
        while (!isOver()) {
            long waited = System.nanoTime() - start;
            if (waited >= timeout.toNanos()) {
                LOG.debug("queue not drained: device={}", session.info());
                return false;
            }
            interrupted |= Thread.interrupted(); // else every pause would end immediately
            Fence.pause(waited);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return true;
    }

    private synchronized boolean isOver() {
        return closed || isIdle();
    }

    /** Returns whether all work has ended, successfully or not. Also true if the device is lost. */
    protected abstract boolean isIdle();

    /** Returns the failure of a wait that timed out. */
    protected final LarderException late(Duration waited) {
        return Failure.of(ErrorCode.DEADLINE, "device did not reach the fence in time")
                .with("device", session.info())
                .with("timeout", waited.toMillis() + "ms")
                .remedy("check whether the device is busy or hangs");
    }

    /** Releases the queue. The driver frees it when its work is done. */
    @Override
    public final synchronized void close() {
        if (!closed) {
            closed = true;
            release();
        }
    }

    /** Releases the queue's native objects. Called once. */
    protected abstract void release();

    @Override
    public String toString() {
        return getClass().getSimpleName() + "{" + session.info() + "}";
    }
}
