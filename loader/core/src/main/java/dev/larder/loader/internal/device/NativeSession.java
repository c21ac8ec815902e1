package dev.larder.loader.internal.device;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.device.DeviceInfo;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** An open device of a native library: its state and its memory, which all parts of a backend share. */
public abstract class NativeSession {
    /** The states of a backend. */
    public enum State {
        OPEN,
        /** Takes no more work, and waits for the work that is under way. */
        CLOSING,
        CLOSED,
        /** Closed although the device does not finish its work: memory that it may use is never freed. */
        STUCK
    }

    private final DeviceInfo info;
    private final Duration patience;
    private final DeviceHealth health;
    private final AtomicLong reserved;
    private final AtomicReference<State> state;

    /** Takes a device, and how long to wait for it if a method waits. */
    protected NativeSession(DeviceInfo info, Duration patience, DeviceHealth health) {
        this.info = info;
        this.patience = patience;
        this.health = health;
        this.reserved = new AtomicLong();
        this.state = new AtomicReference<>(State.OPEN);
    }

    /** Takes the same device with a health of its own: failures there do not count here. */
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

    /** Returns how long to wait for the device if a method waits. */
    public final Duration patience() {
        return patience;
    }

    /** Returns whether the device can still be used, and why not. */
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

    /** Counts bytes before they are allocated; fails with {@code NO_SPACE} if the device never has as many. */
    public final void reserve(long byteSize) {
        if (byteSize > info.maxAllocationBytes()) {
            throw noSpace(byteSize).remedy("split it into smaller pieces");
        }
        if (reserved.addAndGet(byteSize) > info.memoryBytes()) {
            reserved.addAndGet(-byteSize);
            throw noSpace(byteSize).remedy("use fewer or smaller batches, or a smaller budget for resident arrays");
        }
    }

    /** Returns how many bytes are allocated. */
    public final long reservedBytes() {
        return reserved.get();
    }

    /** Counts bytes that are free again. */
    public final void free(long byteSize) {
        reserved.addAndGet(-byteSize);
    }

    /** Begins the failure of an allocation. */
    public final Failure noSpace(long byteSize) {
        return Failure.of(ErrorCode.NO_SPACE, "not enough memory on the device")
                .with("device", info)
                .with("needed", byteSize)
                .with("allocated", reserved.get())
                .with("memory", info.memoryBytes())
                .with("maxAllocation", info.maxAllocationBytes());
    }

    /** Returns whether an object of another session can be used here. */
    public abstract boolean sharesContextWith(NativeSession other);

    /** Gives up the context, after all else. */
    protected abstract void release();
}
