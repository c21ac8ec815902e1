package dev.larder.loader.internal.upload;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.ring.DeliveredBatch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A batch that was submitted to the devices. Its fences determine when the host's bytes and the other resources can be released.
 *
 * <p>Owns its fences. It keeps those before the upload and that of the upload until the host's bytes are free, and that of the
 * whole batch until it is complete and its slot holds another. Guarded by the {@link DeviceRing}, except for checks of fences.
 */
final class UploadingBatch {
    final Plan plan;
    final long number;
    private final DeliveredBatch staged;

    /** Time at which the consumer's work on the slot had ended; 0 before. The device's time limit starts here. */
    long clearedNanos;

    /** True if the device has been reported as late with this batch. */
    boolean reportedLate;

    private final Fence[] before;
    private final Fence[] uploaded;
    private final Fence[] ready;

    private boolean released;
    private boolean completed;
    private boolean left;

    /** Takes ownership of the fences that a slot's parts have for a batch. */
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

    /** Returns whether the consumer has finished with the slot's previous batch. */
    boolean isCleared() {
        return areOver(before);
    }

    /** Returns whether no device needs the host's bytes any longer. Fails if a device failed. */
    boolean isUploaded() {
        return areOver(uploaded);
    }

    /** Returns whether the batch is complete; fails if a device failed. */
    boolean isReady() {
        return areOver(ready);
    }

    /** Returns whether all fences are passed or failed. If one failed, this fails, but only after the others have ended. */
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

    /** Releases the host's bytes for reuse, and the fences up to the upload. */
    void release() {
        released = true;
        staged.close(null);
        close(before, null);
        close(uploaded, ready);
    }

    /** Records that the batch is complete. */
    void complete() {
        completed = true;
        closeIfDone();
    }

    /** Records that the slot holds another batch or none. */
    void leave() {
        left = true;
        closeIfDone();
    }

    /** Closes all fences. No device work may be in flight. */
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

    /** Closes the fences that {@code elsewhere} does not share: without a kernel, upload and completion have the same fence. */
    private static void close(Fence[] fences, Fence @Nullable [] elsewhere) {
        for (int i = 0; i < fences.length; i++) {
            if (elsewhere == null || fences[i] != elsewhere[i]) {
                fences[i].close();
            }
        }
    }
}
