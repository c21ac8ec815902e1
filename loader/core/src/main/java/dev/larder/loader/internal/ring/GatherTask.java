package dev.larder.loader.internal.ring;

import org.jspecify.annotations.Nullable;

/** The next work of a thread: a batch to plan, and rows to gather. Each thread has one object, which it reuses. */
final class GatherTask {
    private final Workspace workspace;

    @Nullable
    RingSlot slot;

    boolean planning;
    int first;
    int count;

    GatherTask(Workspace workspace) {
        this.workspace = workspace;
    }

    Workspace workspace() {
        return workspace;
    }

    void clear() {
        slot = null;
    }

    /** Sets a slot with a batch to plan. */
    void plan(RingSlot slot) {
        this.slot = slot;
        this.planning = true;
        this.first = 0;
        this.count = 0;
    }

    /** Sets the next rows of a slot. */
    void gather(RingSlot slot, int rows) {
        this.slot = slot;
        this.planning = false;
        slot.busy++;
        claimRows(slot, rows);
    }

    /** Sets the first rows of the slot that was planned. */
    void claimRows(RingSlot slot, int rows) {
        this.first = slot.unclaimed;
        this.count = Math.min(rows, slot.size - slot.unclaimed);
        slot.unclaimed += count;
    }
}
