package dev.larder.loader.internal.upload;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Logs;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.ring.DeliveredBatch;
import dev.larder.loader.internal.ring.Deliveries;
import dev.larder.loader.internal.ring.HostPipeline;
import dev.larder.loader.internal.ring.Pipeline;
import dev.larder.loader.internal.ring.Stopwatch;
import dev.larder.loader.internal.slot.OutputArray;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Uploads the batches of a {@link HostPipeline} and delivers them on devices. Owns the device resources. */
final class DevicePipeline implements Pipeline, DeliveredBatch.Lender {
    /** Time limit of closing for the devices' work, including the consumer's. */
    private static final Duration END_TIMEOUT = Duration.ofSeconds(5);

    /** Pipelines that timed out while closing. They stay reachable, because a device may still use their memory. */
    private static final Set<DevicePipeline> LEFT_ALONE = ConcurrentHashMap.newKeySet();

    private static final Logger LOG = Logs.of(DevicePipeline.class);

    private final HostPipeline host;
    private final LoaderSource source;
    private final DeviceResources resources;
    private final DeviceMode mode;
    private final DeviceRing ring;
    private final Stopwatch stopwatch;
    private final DeviceThreads threads;

    /** The batches that the consumer holds; guarded by itself. */
    private final Deliveries deliveries;

    private boolean closing;
    private final AtomicBoolean closed = new AtomicBoolean();

    DevicePipeline(HostPipeline host, DeviceResources resources, DeviceMode mode, Duration timeout) {
        this.host = host;
        this.source = host.source();
        this.resources = resources;
        this.mode = mode;
        this.stopwatch = host.counters().consumerOfDevices(host.stopwatch());
        this.ring = new DeviceRing(source, resources.slots(), timeout);
        this.deliveries = new Deliveries(this, slots(), 0);
        this.threads = DeviceThreads.start(source, ring, timeout);
    }

    @Override
    public HostPipeline host() {
        return host;
    }

    @Override
    public List<OutputArray> outputs() {
        return DeviceOutput.of(source).stream().map(DeviceOutput::description).toList();
    }

    // ---- for epochs

    @Override
    public void endRunning() {
        ring.endRunning();
        closeBatches(false);
        host.endRunning();
    }

    @Override
    public void start(Plan plan) {
        host.start(plan);
        ring.start(new DeviceRing.Run(host, plan));
    }

    @Override
    public void follow(Plan running, Plan next) {
        host.follow(running, next);
        ring.follow(running, new DeviceRing.Run(host, next));
    }

    @Override
    public boolean advance(Plan next) {
        boolean follows = ring.advance(next);
        if (follows) {
            var unused = host.advance(next); // does nothing if the uploading thread has already advanced
            closeBatches(false);
        }
        return follows;
    }

    @Override
    public void end(Plan plan) {
        if (ring.end(plan)) {
            closeBatches(false);
        }
    }

    @Override
    public Stopwatch stopwatch() {
        return stopwatch;
    }

    // ---- for the consumer

    @Override
    public DeliveredBatch take(Plan plan, @Nullable DeliveredBatch before) {
        ring.requireRunning(plan);
        closeBatches(false);
        DeviceSlot slot = taken(plan);
        try {
            for (DevicePart part : slot.parts) {
                part.device.consumer().waitFor(part.ready);
            }
        } catch (Throwable e) { // usually the batch failed before delivery
            LarderException failure = DeviceThreads.failure(source, "device failed", plan, slot.number, "deliver", e);
            ring.failed(failure);
            ring.giveBack(slot);
            throw failure;
        }
        synchronized (deliveries) {
            if (!closing) {
                stopwatch.taken(slot.size, 0); // the host counts bytes
                return deliveries.open(slot, false);
            }
        }
        ring.giveBack(slot);
        throw new IllegalStateException(
                "loader is closed: dataset=" + source.data().name());
    }

    private DeviceSlot taken(Plan plan) {
        stopwatch.beginWait();
        try {
            return ring.take(plan);
        } finally {
            stopwatch.end();
        }
    }

    @Override
    public void release(DeliveredBatch delivery, Fence @Nullable [] lastUse) {
        DeviceSlot slot = (DeviceSlot) delivery.lastSlot();
        if (lastUse != null) {
            requireAccepted(slot, lastUse);
        }
        boolean first;
        synchronized (deliveries) {
            first = deliveries.close(delivery) != null;
        }
        if (first) {
            ring.giveBack(slot, lastUse == null ? consumerFences(slot) : lastUse);
        } else if (lastUse != null) {
            for (Fence fence : lastUse) {
                fence.close();
            }
        }
    }

    private static void requireAccepted(DeviceSlot slot, Fence[] fences) {
        for (int i = 0; i < fences.length; i++) {
            if (!slot.parts.get(i).device.accepts(fences[i])) {
                throw new IllegalArgumentException("the device cannot wait for this fence: fence=" + fences[i]
                        + " device=" + slot.parts.get(i).device.info());
            }
        }
    }

    private Fence[] consumerFences(DeviceSlot slot) {
        Fence[] fences = new Fence[slot.parts.size()];
        for (int i = 0; i < fences.length; i++) {
            try {
                fences[i] = slot.parts.get(i).device.consumer().fence();
            } catch (LarderException e) { // there are no more uploads that would have to wait
                ring.failed(DeviceThreads.failure(source, "device failed", slot.plan(), slot.number, "give back", e));
                fences[i] = Fence.passed();
            }
        }
        return fences;
    }

    private void closeBatches(boolean keptToo) {
        List<DeliveredBatch> open;
        synchronized (deliveries) {
            open = deliveries.allOpen();
        }
        for (DeliveredBatch delivery : open) {
            if (!delivery.isKept() || (keptToo && !delivery.isLent())) {
                release(delivery, null);
            }
        }
    }

    // ---- state

    @Override
    public List<DeviceInfo> devices() {
        return resources.backends().stream().map(DeviceBackend::info).toList();
    }

    @Override
    public Optional<DeviceMode> mode() {
        return Optional.of(mode);
    }

    @Override
    public long deviceBytes() {
        return resources.byteSize();
    }

    @Override
    public long uploadedBytes() {
        return ring.uploadedBytes();
    }

    @Override
    public int slots() {
        return resources.slots().size();
    }

    // ---- for the end

    /** Closes in a separate thread, so that a driver that hangs does not delay the cleanup of other abandoned loaders. */
    @Override
    public void abandon() {
        Thread closer = new Thread(this::close, "larder-close-forgotten");
        closer.setDaemon(true);
        closer.start();
    }

    /**
     * Closes without freeing memory that a device, a thread or the consumer may still use. If the wait for a user times out, its
     * memory is never freed.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        boolean interrupted = Thread.interrupted(); // an interrupt would end every wait and leak the memory
        try {
            synchronized (deliveries) {
                closing = true;
            }
            ring.close();
            closeBatches(true);
            String left = awaitEnd(Deadline.after(END_TIMEOUT));
            if (!left.isEmpty()) {
                throw source.failure(ErrorCode.DEADLINE, "device did not finish in time")
                        .with("devices", devices())
                        .with("waitedFor", left)
                        .remedy(
                                "check what the consumer's queue or fences wait for; end the process to free the device");
            }
            host.close();
            resources.close();
        } catch (InterruptedException e) {
            interrupted = true;
            leaveAlone();
        } catch (LarderException e) { // also if a gather thread is blocked: it may still write to its memory
            leaveAlone();
            throw e;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void leaveAlone() {
        LEFT_ALONE.add(this);
        LOG.warn(
                "memory is not freed, as it may still be in use: dataset={} devices={}",
                source.data().name(),
                devices());
        host.close(false);
    }

    /** Waits for the threads, batches, consumer's work and devices' work. Returns a description of the first that did not end. */
    private String awaitEnd(Deadline deadline) throws InterruptedException {
        String names = threads.join(deadline);
        if (!names.isEmpty()) {
            return "thread " + names;
        }
        if (ring.hasUploads() || !ring.awaitNothingLent(deadline)) {
            return "batches in flight or held by the consumer";
        }
        for (DeviceSlot slot : resources.slots()) {
            for (DevicePart part : slot.parts) {
                if (!isOver(part.lastUse, deadline)) {
                    return "the consumer's last use of batch " + slot.number;
                }
            }
        }
        for (DeviceBackend device : resources.backends()) {
            if (!device.uploads().drain(deadline.remaining())
                    || !device.kernels().drain(deadline.remaining())) {
                return "queues of " + device.info();
            }
        }
        return "";
    }

    private static boolean isOver(Fence fence, Deadline deadline) throws InterruptedException {
        try {
            fence.await(deadline.remaining());
            return true;
        } catch (LarderException e) { // failed work has also ended
            if (e.code() == ErrorCode.INTERRUPTED) {
                throw new InterruptedException();
            }
            return e.code() != ErrorCode.DEADLINE;
        }
    }
}
