package dev.larder.loader;

import dev.larder.loader.device.Fence;
import java.util.function.Function;

/**
 * A batch that was given to the devices: what has to happen before its bytes on the host, and what else it holds, can be given up.
 *
 * <p>Guarded by the {@link DeviceRing}, but for the fences.
 */
final class Flight {
    final DeviceSlot slot;
    final Plan plan;
    final long number;
    private final Batch staged;

    /** When nothing of the consumer was in its way any more: the device's own time runs from here; 0 before. */
    long clearedNanos;

    private final Fence[] before;
    private final Fence[] uploaded;
    private final Fence[] ready;

    private boolean landed;
    private boolean left;

    Flight(DeviceSlot slot, Batch staged) {
        this.slot = slot;
        this.plan = slot.plan();
        this.number = slot.number;
        this.staged = staged;
        this.before = fences(part -> part.lastUse);
        this.uploaded = fences(part -> part.uploaded);
        this.ready = fences(part -> part.ready);
    }

    private Fence[] fences(Function<SlotPart, Fence> which) {
        Fence[] fences = new Fence[slot.parts.size()];
        for (int i = 0; i < fences.length; i++) {
            fences[i] = which.apply(slot.parts.get(i));
        }
        return fences;
    }

    /** Tells whether the consumer is done with the batch that the slot held before. */
    boolean isCleared() {
        return allPassed(before);
    }

    /** Tells whether the host's bytes are no longer needed; fails if the device failed. */
    boolean isUploaded() {
        return allPassed(uploaded);
    }

    /** Tells whether the batch is complete; fails if the device failed. */
    boolean isReady() {
        return allPassed(ready);
    }

    private static boolean allPassed(Fence[] fences) {
        for (Fence fence : fences) {
            if (!fence.isPassed()) {
                return false;
            }
        }
        return true;
    }

    /** Gives the host's bytes back to be filled again: everything before the upload is done with as well. */
    void release() {
        staged.close();
        close(uploaded);
    }

    /** Takes note that the batch is complete. */
    void land() {
        landed = true;
        closeIfDone();
    }

    /** Takes note that the slot has another batch, or none any more. */
    void leave() {
        left = true;
        closeIfDone();
    }

    private void closeIfDone() {
        if (landed && left) {
            close(ready);
        }
    }

    private static void close(Fence[] fences) {
        for (Fence fence : fences) {
            fence.close();
        }
    }
}
