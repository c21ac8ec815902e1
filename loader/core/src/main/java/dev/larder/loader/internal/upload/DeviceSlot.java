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
 * Memory for a batch on one device or several, with one part for each; used again and again.
 *
 * <pre>
 *   free → submitting → in line → lent (in a DeliveredBatch) → free, with the consumer's fence, which the next upload waits for
 * </pre>
 *
 * <p>Guarded by the {@link DeviceRing}, but for what the uploading thread does between taking a free slot and putting it in line.
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

    /** Gives the devices a batch, which must be kept until its bytes are uploaded; returns how many bytes that are. */
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

    /** Takes note of the batch that it holds now; the one before gives up what it held. */
    void take(@Nullable UploadingBatch next) {
        UploadingBatch before = uploading;
        uploading = next;
        if (before != null) {
            before.leave();
        }
    }

    /** Sets what the next upload waits for, one fence for each part; they belong to the slot, and then to its next upload. */
    void waitFor(Fence[] fences) {
        for (int i = 0; i < fences.length; i++) {
            parts.get(i).lastUse = fences[i];
        }
    }

    /** Lets the next upload wait for the batch itself: nobody has seen it. */
    void waitForItself() {
        for (DevicePart part : parts) {
            part.lastUse = part.ready;
        }
    }

    /** Closes everything; nothing may be under way any more. */
    @Override
    public void close() {
        parts.forEach(DevicePart::close);
        if (uploading != null) {
            uploading.close();
        }
    }
}
