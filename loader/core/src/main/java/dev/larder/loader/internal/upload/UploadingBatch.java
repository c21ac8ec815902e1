package dev.larder.loader.internal.upload;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.ring.DeliveredBatch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A batch that was given to the devices: what has to happen before its bytes on the host, and what else it holds, can be given up.
 *
 * <p>Owns its fences: those that the upload waited for and that of the upload itself until the host's bytes are free, that of the
 * whole batch until it is complete and its slot has another. Guarded by the {@link DeviceRing}, but for looking at fences.
 */
final class UploadingBatch {
    final Plan plan;
    final long number;
    private final DeliveredBatch staged;

    /** When nothing of the consumer was in its way any more: the device's own time runs from here; 0 before. */
    long clearedNanos;

    /** Whether it was said that the device is late with it. */
    boolean reportedLate;

    private final Fence[] before;
    private final Fence[] uploaded;
    private final Fence[] ready;

    private boolean released;
    private boolean completed;
    private boolean left;

    /** Takes over the fences of a slot's parts that stand for a batch. */
    UploadingBatch(DeviceSlot slot, DeliveredBatch staged) {
        this.plan = slot.plan();
        this.number = slot.number;
        this.staged = staged;
        List<DevicePart> parts = slot.parts;
        this.before = new Fence[parts.size()];
        this.uploaded = new Fence[parts.size()];
        this.ready = new Fence[parts.size()];
        for (int i = 0; i < before.length; i++) {
            DevicePart part = parts.get(i);
            before[i] = part.lastUse;
            uploaded[i] = part.uploaded;
            ready[i] = part.ready;
            part.lastUse = Fence.passed();
        }
    }

    /** Returns whether the consumer is done with the batch that the slot held before. */
    boolean isCleared() {
        return areOver(before);
    }

    /** Returns whether the host's bytes are no longer needed by any device; fails if one failed. */
    boolean isUploaded() {
        return areOver(uploaded);
    }

    /** Returns whether the batch is complete; fails if a device failed. */
    boolean isReady() {
        return areOver(ready);
    }

    /** Returns whether all are passed or failed; fails if one failed, but not before the others are over as well. */
    private static boolean areOver(Fence[] fences) {
        RuntimeException failure = null;
        boolean over = true;
        for (Fence fence : fences) {
            try {
                over &= fence.isPassed();
            } catch (RuntimeException e) {
                failure = e;
            }
        }
        if (over && failure != null) {
            throw failure;
        }
        return over;
    }

    /** Gives the host's bytes back to be filled again: everything before the upload is done with as well. */
    void release() {
        released = true;
        staged.close(null);
        close(before, null);
        close(uploaded, ready);
    }

    /** Takes note that the batch is complete. */
    void complete() {
        completed = true;
        closeIfDone();
    }

    /** Takes note that the slot has another batch, or none any more. */
    void leave() {
        left = true;
        closeIfDone();
    }

    /** Closes all fences: at the end, when nothing is under way any more. */
    void close() {
        if (!released) {
            close(before, null);
            close(uploaded, null);
        }
        close(ready, null);
    }

    private void closeIfDone() {
        if (completed && left) {
            close(ready, null);
        }
    }

    /** Closes fences, but for those that stand in the same place elsewhere: without a kernel, a batch is complete when uploaded. */
    private static void close(Fence[] fences, Fence @Nullable [] elsewhere) {
        for (int i = 0; i < fences.length; i++) {
            if (elsewhere == null || fences[i] != elsewhere[i]) {
                fences[i].close();
            }
        }
    }
}
