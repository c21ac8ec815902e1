package dev.larder.loader;

import dev.larder.loader.device.Fence;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * Some samples of an epoch, in the memory of one or several devices: for each array of the loader, their rows one after the other.
 *
 * <p>A batch is handed out before it is complete. Work on the loader's own {@link DevicePart#queue} comes after it by itself;
 * other queues wait for {@link DevicePart#ready}, the host calls {@link #await}. In the same way its memory is used again after
 * everything that was given to the loader's queue by the time the batch is closed, unless {@link #release} says for what else to
 * wait. It is closed by {@link #close}, when the loop over its epoch moves on, when the epoch ends or the loader is closed,
 * whichever comes first; {@link #keep} exempts it from the loop and the end of the epoch.
 *
 * <p>Every method of a batch that is not open throws {@link IllegalStateException}, but for {@link #isOpen} and {@link #close}.
 */
public final class DeviceBatch implements AutoCloseable {
    private final DeviceFeed feed;
    private final States states;
    private final BatchInfo facts;
    private final List<DevicePart> parts;

    /** What the batch is made on: a device slot, or the host's batch. */
    final Object source;

    private volatile boolean kept;
    private volatile boolean open = true;

    /** What a batch is, wherever it lies. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record BatchInfo(Plan plan, long number, int size, int validSize, long consumed, long[] rows) {}

    DeviceBatch(DeviceFeed feed, States states, BatchInfo facts, List<DevicePart.Draft> parts, Object source) {
        this.feed = feed;
        this.states = states;
        this.facts = facts;
        this.source = source;
        DevicePart[] made = new DevicePart[parts.size()];
        for (int i = 0; i < made.length; i++) {
            made[i] = new DevicePart(this, parts.get(i));
        }
        this.parts = List.of(made);
    }

    /** Returns the epoch that the batch belongs to. */
    public long epoch() {
        return facts().plan().epoch();
    }

    /** Returns the batch's number in its epoch, from 0. */
    public long number() {
        return facts().number();
    }

    /** Returns how many samples it has, on all devices together; see {@link Batch#size}. */
    public int size() {
        return facts().size();
    }

    /** Returns how many of the samples count, from the first one on; see {@link Batch#validSize}. */
    public int validSize() {
        return facts().validSize();
    }

    /** Returns how far training has come when it has consumed this batch; see {@link Batch#stateAfter}. */
    public LoaderState stateAfter() {
        return states.after(facts().plan(), facts.consumed());
    }

    /** Returns which row of the dataset a sample is. */
    public long row(int sample) {
        return facts().rows()[Objects.checkIndex(sample, facts.size())];
    }

    /** Returns the parts on the loader's devices, in their order: each has the samples that follow those of the one before. */
    public List<DevicePart> parts() {
        facts();
        return parts;
    }

    /** Returns the arrays of a loader with one device, in the order in which the loader names them. */
    public List<DeviceArray> arrays() {
        return only().arrays();
    }

    /** Returns one array of a loader with one device. */
    public DeviceArray array(String name) {
        return only().array(name);
    }

    /** Returns the fence of a loader with one device that is passed when the batch is complete. */
    public Fence ready() {
        return only().ready();
    }

    private DevicePart only() {
        facts();
        if (parts.size() != 1) {
            throw new IllegalStateException("the loader has several devices, use parts(): devices=" + parts.size());
        }
        return parts.get(0);
    }

    /** Waits until the batch is complete. Fails as {@link Fence#await} does. */
    public void await(Duration timeout) {
        for (DevicePart part : parts()) {
            part.ready().await(timeout);
        }
    }

    /**
     * Keeps the batch open when the loop moves on, until it is closed. Every kept batch holds one of the loader's device slots: there
     * must be more of them ({@link DeviceLoaderBuilder#slots}) than batches are kept at a time.
     */
    public DeviceBatch keep() {
        facts();
        kept = true;
        return this;
    }

    /** Tells whether the batch can be used. */
    public boolean isOpen() {
        return open;
    }

    /**
     * Closes the batch; its memory is used again when the fences are passed, one for each part in their order, and not before. They
     * belong to the loader from now on, which closes them, also where the batch was closed meanwhile.
     */
    public void release(Fence... lastUse) {
        if (!open) {
            for (Fence fence : lastUse) {
                fence.close();
            }
        }
        facts();
        if (lastUse.length != parts.size()) {
            throw new IllegalArgumentException(
                    "one fence for each part: fences=" + lastUse.length + " parts=" + parts.size());
        }
        feed.release(this, lastUse.clone());
    }

    /** Closes the batch; its memory is used again when the loader's queue has got this far. Idempotent. */
    @Override
    public void close() {
        feed.release(this, null);
    }

    boolean isKept() {
        return kept;
    }

    void invalidate() {
        open = false;
    }

    private BatchInfo facts() {
        requireOpen();
        return facts;
    }

    void requireOpen() {
        if (!open) {
            throw new IllegalStateException(
                    "batch is closed: by close(), by the next iteration, or with its epoch or loader");
        }
    }

    @Override
    public String toString() {
        return "DeviceBatch{" + (open ? facts.number() + " size " + facts.size() : "closed") + "}";
    }
}
