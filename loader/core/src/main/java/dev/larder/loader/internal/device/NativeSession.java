package dev.larder.loader.internal.device;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.device.DeviceInfo;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** The state and memory count of an open device, shared by all parts of a native backend. */
public abstract class NativeSession {
    /** The states of a backend. */
    public enum State {
        OPEN,
        /** Accepts no new work, and waits for work in flight. */
        CLOSING,
        CLOSED,
        /** Closed with work unfinished: memory that the device may use is never freed. */
        STUCK
    }

    private final DeviceInfo info;
    private final Duration patience;
    private final DeviceHealth health;
    private final AtomicLong reserved;
    private final AtomicReference<State> state;

    /** Starts a session; {@code patience} is the timeout of methods that wait for the device. */
    protected NativeSession(DeviceInfo info, Duration patience, DeviceHealth health) {
        this.info = info;
        this.patience = patience;
        this.health = health;
        this.reserved = new AtomicLong();
        this.state = new AtomicReference<>(State.OPEN);
    }

    /** Starts a session on the same device with separate health: failures in one do not affect the other. */
    protected NativeSession(NativeSession other, DeviceHealth health) {
        this.info = other.info;
        this.patience = other.patience;
        this.health = health;
        this.reserved = other.reserved;
        this.state = other.state;
    }

    /** Describes the device. */
    public final DeviceInfo info() {
        return info;
    }

    /** Returns the timeout of methods that wait for the device. */
    public final Duration patience() {
        return patience;
    }

    /** Returns the record of whether the device is still usable. */
    public DeviceHealth health() {
        return health;
    }

    /** Returns the state of the backend. */
    public final State state() {
        return Objects.requireNonNull(state.get());
    }

    final boolean begin(State from, State to) {
        return state.compareAndSet(from, to);
    }

    /** Fails if the backend is closed or the device is lost. */
    public final void requireOpen() {
        if (state() != State.OPEN) {
            throw new IllegalStateException("closed: device=" + info);
        }
        health.require();
    }

    /** Counts bytes before their allocation. Fails with {@code NO_SPACE} if they exceed the device's limits. */
    public final void reserve(long byteSize) {
        if (byteSize > info.maxAllocationBytes()) {
            throw noSpace(byteSize).remedy("split it into smaller pieces");
        }
        if (reserved.addAndGet(byteSize) > info.memoryBytes()) {
            reserved.addAndGet(-byteSize);
            throw noSpace(byteSize).remedy("use fewer or smaller batches, or a smaller budget for resident arrays");
        }
    }

    /** Returns the number of allocated bytes. */
    public final long reservedBytes() {
        return reserved.get();
    }

    /** Subtracts freed bytes from the count. */
    public final void free(long byteSize) {
        reserved.addAndGet(-byteSize);
    }

    /** Builds the failure of an allocation. */
    public final Failure noSpace(long byteSize) {
        return Failure.of(ErrorCode.NO_SPACE, "not enough memory on the device")
                .with("device", info)
                .with("needed", byteSize)
                .with("allocated", reserved.get())
                .with("memory", info.memoryBytes())
                .with("maxAllocation", info.maxAllocationBytes());
    }

    /** Returns whether objects of another session are usable here. */
    public abstract boolean sharesContextWith(NativeSession other);

    /** Releases the context. Called last. */
    protected abstract void release();
}
