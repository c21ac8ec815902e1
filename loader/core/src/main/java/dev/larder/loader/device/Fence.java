package dev.larder.loader.device;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A point in the work of a queue. It passes when all work before it is done. Thread-safe.
 *
 * <p>A fence stays usable after its native object is reused: it then reports that it has passed.
 */
public abstract class Fence implements AutoCloseable {
    private static final long SHORTEST_PAUSE_NS = 20_000;
    private static final long LONGEST_PAUSE_NS = 4_000_000;

    private static final Fence PASSED = new Fence() {
        @Override
        public boolean isPassed() {
            return true;
        }

        @Override
        public @Nullable Object nativeObject() {
            return null;
        }

        @Override
        public void close() {}
    };

    /** For backends. */
    protected Fence() {}

    /** Returns a fence that has passed. */
    public static Fence passed() {
        return PASSED;
    }

    /** Returns whether the fence has passed. Fails with {@code UNEXPECTED} and the driver's error name if earlier work failed. */
    public abstract boolean isPassed();

    /** Returns the object for Java libraries, JOCL's {@code cl_event}, which the fence still owns, or empty if there is none. */
    public abstract @Nullable Object nativeObject();

    /** Releases its device resources. Afterwards the fence counts as passed. Idempotent. */
    @Override
    public abstract void close();

    /**
     * Waits until the fence has passed, without spinning as drivers do. Fails like {@link #isPassed}, with {@code DEADLINE} after the
     * timeout, or with {@code INTERRUPTED} if the thread is interrupted.
     */
    public final void await(Duration timeout) {
        if (isPassed()) {
            return;
        }
        long start = System.nanoTime();
        long waited = 0;
        while (!isPassed()) {
            if (Thread.currentThread().isInterrupted()) {
                throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting for a device")
                        .with("waited", Duration.ofNanos(waited).toMillis() + "ms")
                        .exception();
            }
            if (waited > timeout.toNanos()) {
                throw Failure.of(ErrorCode.DEADLINE, "device did not reach the fence in time")
                        .with("fence", this)
                        .with("timeout", timeout.toMillis() + "ms")
                        .remedy("check whether the device is busy or hangs, or its queue waits for another fence");
            }
            pause(waited);
            waited = System.nanoTime() - start;
        }
    }

    /** Pauses between two checks. The pause grows with the time waited so far. */
    public static void pause(long waitedNanos) {
        LockSupport.parkNanos(Math.min(LONGEST_PAUSE_NS, Math.max(SHORTEST_PAUSE_NS, waitedNanos / 8)));
    }
}
