package dev.larder.loader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Logs;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.device.DeviceBackend;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.Fence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Hands out batches that were uploaded to devices, and owns all that they need. */
final class UploadingFeed implements DeviceFeed {
    /** How long closing waits for the devices, and for what the consumer gave them to do. */
    private static final Duration END_TIMEOUT = Duration.ofSeconds(5);

    /** What could not be waited for: a device may still use its memory, so it must not be collected. */
    private static final Set<UploadingFeed> LEFT_ALONE = ConcurrentHashMap.newKeySet();

    private static final Logger LOG = Logs.of(UploadingFeed.class);

    private final Loader host;
    private final Source source;
    private final States states;
    private final DeviceMeans means;
    private final DeviceRing ring;
    private final DeviceThreads threads;
    private final List<DeviceBatch> open = new ArrayList<>();
    private boolean closing;

    UploadingFeed(Loader host, Source source, States states, DeviceMeans means, Duration timeout) {
        this.host = host;
        this.source = source;
        this.states = states;
        this.means = means;
        this.ring = new DeviceRing(source, means.slots(), timeout);
        this.threads = DeviceThreads.start(source, ring, timeout);
    }

    @Override
    public void start(Epoch epoch) {
        closeBatches(false);
        ring.start(new DeviceRing.Run(epoch));
    }

    @Override
    public DeviceBatch next(Plan plan) {
        ring.requireRunning(plan);
        closeBatches(false);
        DeviceSlot slot = ring.take(plan);
        DeviceBatch batch;
        try {
            batch = lend(slot);
        } catch (Throwable e) { // the batch failed before anybody saw it, mostly
            LarderException failure = DeviceThreads.failure(source, "device failed", plan, slot.number, "deliver", e);
            ring.failed(failure);
            ring.giveBack(slot);
            throw failure;
        }
        synchronized (open) {
            if (!closing) {
                open.add(batch);
                return batch;
            }
        }
        ring.giveBack(slot);
        throw new IllegalStateException(
                "loader is closed: dataset=" + source.dataset().name());
    }

    private DeviceBatch lend(DeviceSlot slot) {
        List<DevicePart.Draft> parts = new ArrayList<>(slot.parts.size());
        for (SlotPart part : slot.parts) {
            part.device.consumer().waitFor(part.ready);
            List<DeviceArray.Draft> arrays = new ArrayList<>(part.shapes.length);
            for (int i = 0; i < part.shapes.length; i++) {
                arrays.add(part.draft(i));
            }
            parts.add(new DevicePart.Draft(part.device, part.firstSample, part.samples, part.ready, arrays));
        }
        return new DeviceBatch(this, states, slot.facts(), parts, slot);
    }

    @Override
    public void release(DeviceBatch batch, Fence @Nullable [] lastUse) {
        DeviceSlot slot = (DeviceSlot) batch.source;
        if (lastUse != null) {
            requireAccepted(slot, lastUse);
        }
        boolean first;
        synchronized (open) {
            first = open.remove(batch);
            batch.invalidate();
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
            } catch (LarderException e) { // nothing will be uploaded any more, so nothing has to wait
                ring.failed(DeviceThreads.failure(source, "device failed", slot.plan(), slot.number, "give back", e));
                fences[i] = Fence.passed();
            }
        }
        return fences;
    }

    private void closeBatches(boolean keptToo) {
        DeviceBatch over = firstOpen(keptToo);
        while (over != null) {
            release(over, null);
            over = firstOpen(keptToo);
        }
    }

    private @Nullable DeviceBatch firstOpen(boolean keptToo) {
        synchronized (open) {
            for (int i = 0; i < open.size(); i++) {
                if (keptToo || !open.get(i).isKept()) {
                    return open.get(i);
                }
            }
            return null;
        }
    }

    @Override
    public void end(Plan plan) {
        if (ring.end(plan)) {
            closeBatches(false);
        }
    }

    @Override
    public List<DeviceInfo> devices() {
        return means.backends().stream().map(DeviceBackend::info).toList();
    }

    @Override
    public long uploadedBytes() {
        return ring.uploadedBytes();
    }

    /**
     * Ends in an order in which nothing is freed that a device, a thread or the consumer may still use: what cannot be waited for in
     * time is left as it is, for good.
     */
    @Override
    public void close() {
        boolean interrupted = Thread.interrupted(); // it would end every wait at once, and leave everything behind
        try {
            synchronized (open) {
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
            means.close();
        } catch (InterruptedException e) {
            interrupted = true;
            leaveAlone();
        } catch (LarderException e) { // also where a gather thread is held up: it may still write where it was
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
        LOG.warn("memory is not freed, as it may still be in use: loader={} devices={}", host, devices());
        host.close(false);
    }

    /** Waits for threads, batches, the consumer's work and that of the devices; says what did not end. */
    private String awaitEnd(Deadline deadline) throws InterruptedException {
        String names = threads.join(deadline);
        if (!names.isEmpty()) {
            return "thread " + names;
        }
        if (ring.hasFlights() || !ring.awaitNothingLent(deadline)) {
            return "batches in flight or held by the consumer";
        }
        for (DeviceSlot slot : means.slots()) {
            for (SlotPart part : slot.parts) {
                if (!isOver(part.lastUse, deadline)) {
                    return "the consumer's last use of batch " + slot.number;
                }
            }
        }
        for (DeviceBackend device : means.backends()) {
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
        } catch (LarderException e) { // work that failed is over as well
            if (e.code() == ErrorCode.INTERRUPTED) {
                throw new InterruptedException();
            }
            return e.code() != ErrorCode.DEADLINE;
        }
    }
}
