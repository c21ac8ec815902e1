package dev.larder.loader.internal.upload;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.slot.BatchSlot;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.SlotPart;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reusable memory for a batch on one or more devices, with one part for each device.
 *
 * <pre>
 *   free → submitting → in line → lent (in a DeliveredBatch) → free, with the consumer's fence; the next upload waits for it
 * </pre>
 *
 * <p>Guarded by the {@link DeviceRing}, except while the uploading thread submits it.
 */
final class DeviceSlot extends BatchSlot implements AutoCloseable {
    final List<DevicePart> parts;

    private @Nullable Plan plan;
    private @Nullable UploadingBatch uploading;

    DeviceSlot(List<DevicePart> parts) {
        this.parts = parts;
    }

    Plan plan() {
        return Objects.requireNonNull(plan);
    }

    @Override
    public SlotPart part(int place) {
        return parts.get(place);
    }

    /** Submits a batch to the devices and returns its size in bytes. The caller must keep the batch until it is uploaded. */
    long submit(HostSlot filled, Plan newPlan) {
        plan = newPlan;
        describe(filled);
        rows = rows.length >= size ? rows : new long[size];
        System.arraycopy(filled.rows, 0, rows, 0, size);
        int share = (int) Plan.ceilDiv(size, parts.size());
        long bytes = 0;
        for (int i = 0; i < parts.size(); i++) {
            int first = Math.min(size, i * share);
            bytes += parts.get(i).submit(filled, first, Math.min(share, size - first));
        }
        return bytes;
    }

    /** Sets the batch that the slot holds. The previous batch releases its fences. */
    void take(@Nullable UploadingBatch next) {
        UploadingBatch before = uploading;
        uploading = next;
        if (before != null) {
            before.leave();
        }
    }

    /** Sets the fences that the next upload waits for, one for each part. The slot owns them until its next upload does. */
    void waitFor(Fence[] fences) {
        for (int i = 0; i < fences.length; i++) {
            parts.get(i).lastUse = fences[i];
        }
    }

    /** Makes the next upload wait for the current batch only, as it was not delivered. */
    void waitForItself() {
        for (DevicePart part : parts) {
            part.lastUse = part.ready;
        }
    }

    /** Closes everything. No device work may be in flight. */
    @Override
    public void close() {
        parts.forEach(DevicePart::close);
        if (uploading != null) {
            uploading.close();
        }
    }
}
