package dev.larder.loader;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceMemory;
import dev.larder.loader.device.Fence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Hands out the host's own batches, without copying: what devices do is measured against them. */
final class HostFeed implements DeviceFeed {
    private final Loader loader;
    private final States states;
    private final Duration timeout;
    private final List<DeviceBatch> open = new ArrayList<>();
    private @Nullable Iterator<Batch> batches;
    private @Nullable Epoch epoch;

    HostFeed(Loader loader, States states, Duration timeout) {
        this.loader = loader;
        this.states = states;
        this.timeout = timeout;
    }

    @Override
    public void start(Epoch next) {
        closeBatches(false);
        synchronized (open) {
            epoch = next;
            batches = next.iterator();
        }
    }

    @Override
    public DeviceBatch next(Plan plan) {
        Iterator<Batch> running;
        synchronized (open) {
            if (epoch == null || epoch.plan() != plan) {
                throw new IllegalStateException(
                        "epoch has ended, since it was closed or another one began: epoch=" + plan.epoch());
            }
            running = Objects.requireNonNull(batches);
        }
        closeBatches(false);
        Batch batch = running.next();
        DeviceBatch.BatchInfo facts = new DeviceBatch.BatchInfo(
                plan, batch.number(), batch.size(), batch.validSize(), batch.slot().consumed, batch.slot().rows);
        List<DeviceArray.Draft> arrays =
                batch.arrays().stream().map(array -> draft(batch, array)).toList();
        DeviceBatch lent = new DeviceBatch(
                this,
                states,
                facts,
                List.of(new DevicePart.Draft(null, 0, batch.size(), Fence.passed(), arrays)),
                batch);
        synchronized (open) {
            open.add(lent);
        }
        return lent;
    }

    private static DeviceArray.Draft draft(Batch batch, BatchArray array) {
        SlotArray memory = batch.slot().arrays[batch.arrays().indexOf(array)];
        return new DeviceArray.Draft(memory.description(), memory.shape, new HostAddress(memory), array.byteBuffer());
    }

    /** Where an array of the host lies. */
    private record HostAddress(long handle, long byteSize) implements DeviceMemory {
        HostAddress(SlotArray array) {
            this(array.filled.addressOffset(), array.filled.capacity());
        }

        @Override
        public @Nullable Object nativeObject() {
            return null;
        }

        @Override
        public void close() {}
    }

    @Override
    public void release(DeviceBatch batch, Fence @Nullable [] lastUse) {
        if (lastUse != null) {
            lastUse[0].await(timeout);
            lastUse[0].close();
        }
        synchronized (open) {
            if (!open.remove(batch)) {
                return;
            }
            batch.invalidate();
        }
        ((Batch) batch.source).close();
    }

    private void closeBatches(boolean keptToo) {
        List<DeviceBatch> over;
        synchronized (open) {
            over = open.stream().filter(batch -> keptToo || !batch.isKept()).toList();
        }
        over.forEach(batch -> release(batch, null));
    }

    @Override
    public void end(Plan plan) {
        synchronized (open) {
            if (epoch == null || epoch.plan() != plan) {
                return;
            }
            epoch.close();
            epoch = null;
        }
        closeBatches(false);
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of();
    }

    @Override
    public long uploadedBytes() {
        return 0;
    }

    @Override
    public void close() {
        synchronized (open) {
            epoch = null;
        }
        closeBatches(true);
        loader.close();
    }
}
