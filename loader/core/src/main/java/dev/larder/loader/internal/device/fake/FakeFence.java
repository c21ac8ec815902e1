package dev.larder.loader.internal.device.fake;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.loader.device.Fence;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A point in the work of a fake queue. */
final class FakeFence extends Fence {
    private final FakeDevice device;
    private final long number;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile long passedNanos;
    private volatile @Nullable String failure;

    FakeFence(FakeDevice device, long number) {
        this.device = device;
        this.number = number;
        device.live.incrementAndGet();
    }

    boolean isOf(FakeDevice other) {
        return device == other;
    }

    /** Makes the fence pass, or fail if there is a failure. */
    void pass(@Nullable String newFailure) {
        failure = newFailure;
        passedNanos = System.nanoTime();
    }

    /** Returns the failure before this fence, or null if it has passed. */
    @Nullable
    String failure() {
        return failure;
    }

    /** Returns whether the queue has reached this fence, before any jitter. */
    boolean isReached() {
        return passedNanos != 0;
    }

    @Override
    public boolean isPassed() {
        if (closed.get()) {
            return true;
        }
        boolean passed = passedNanos != 0 && System.nanoTime() - passedNanos >= device.lateness(number);
        if (passed && failure != null) {
            throw failed();
        }
        return passed;
    }

    LarderException failed() {
        return Failure.of(ErrorCode.UNEXPECTED, "operation of a device failed")
                .with("code", failure)
                .remedy("check failOperation(…) of the fake device, and for memory used after closing");
    }

    @Override
    public @Nullable Object nativeObject() {
        return null;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            device.live.decrementAndGet();
        }
    }

    @Override
    public String toString() {
        return "FakeFence{" + number + "}";
    }
}
