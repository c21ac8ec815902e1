package dev.larder.loader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.device.DeviceBackend;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands out batches that were uploaded to devices, and owns all that they need. */
final class UploadingFeed implements DeviceFeed {
    /** How long closing waits for the devices, and for what the consumer gave them to do. */
    private static final Duration END_TIMEOUT = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(UploadingFeed.class);

    private final Loader host;
    private final Source source;
    private final States states;
    private final DeviceMeans means;
    private final DeviceRing ring;
    private final DeviceThreads threads;
    private final List<DeviceBatch> open = new ArrayList<>();

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
        closeBatches(false);
        DeviceSlot slot = ring.take(plan);
        List<DevicePart.Draft> parts = new ArrayList<>();
        for (SlotPart part : slot.parts) {
            DeviceQueue queue = part.device.consumer();
            synchronized (queue) {
                queue.waitFor(part.ready);
            }
            parts.add(new DevicePart.Draft(part.device, part.firstSample, part.samples, part.ready, part.drafts()));
        }
        DeviceBatch batch = new DeviceBatch(this, states, slot.facts(), parts, slot);
        synchronized (open) {
            open.add(batch);
        }
        return batch;
    }

    @Override
    public void release(DeviceBatch batch, Fence @Nullable [] lastUse) {
        DeviceSlot slot = (DeviceSlot) batch.source;
        if (lastUse != null) {
            requireAccepted(slot, lastUse);
        }
        synchronized (open) {
            if (!open.remove(batch)) {
                return;
            }
            batch.invalidate();
        }
        ring.giveBack(slot, lastUse == null ? consumerFences(slot) : lastUse);
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
            DeviceQueue queue = slot.parts.get(i).device.consumer();
            try {
                synchronized (queue) {
                    fences[i] = queue.fence();
                }
            } catch (LarderException e) { // nothing will be uploaded any more, so there is nothing to wait for
                ring.failed(e);
                fences[i] = Fence.passed();
            }
        }
        return fences;
    }

    private void closeBatches(boolean keptToo) {
        for (DeviceBatch batch = firstOpen(keptToo); batch != null; batch = firstOpen(keptToo)) {
            release(batch, null);
        }
    }

    private @Nullable DeviceBatch firstOpen(boolean keptToo) {
        synchronized (open) {
            for (int i = 0; i < open.size(); i++) { // for every batch, so nothing is allocated
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
        long deadline = System.nanoTime() + END_TIMEOUT.toNanos();
        ring.close();
        closeBatches(true);
        boolean over = threads.join(END_TIMEOUT) && isGivenUp(deadline) && isDrained(deadline);
        try {
            host.close(over);
        } finally {
            if (over) {
                means.close();
            } else {
                LOG.warn(
                        "memory of a device is left as it is, something may still use it: loader={} devices={}",
                        host,
                        devices());
            }
        }
        if (!over) {
            throw source.failure(ErrorCode.DEADLINE, "device did not end in time")
                    .with("devices", devices())
                    .with("underWay", ring.hasFlights())
                    .remedy("see what the consumer's queue or fences wait for; end the process to free the device");
        }
    }

    /** Waits until the consumer's own work with the batches is done. */
    private boolean isGivenUp(long deadline) {
        boolean over = true;
        for (DeviceSlot slot : means.slots()) {
            for (SlotPart part : slot.parts) {
                over &= isOver(part.lastUse, deadline);
            }
        }
        return over;
    }

    /** Waits for what was given to the queues, also where that failed half way. */
    private boolean isDrained(long deadline) {
        boolean over = true;
        for (DeviceBackend device : means.backends()) {
            for (DeviceQueue queue : List.of(device.uploads(), device.kernels())) {
                try (Fence fence = queue.fence()) {
                    over &= isOver(fence, deadline);
                } catch (LarderException e) {
                    LOG.debug("queue takes no more: device={}", device, e);
                }
            }
        }
        return over;
    }

    private static boolean isOver(Fence fence, long deadline) {
        try {
            fence.await(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
            return true;
        } catch (LarderException e) { // work that failed is over as well
            return e.code() != ErrorCode.DEADLINE && e.code() != ErrorCode.INTERRUPTED;
        }
    }
}
