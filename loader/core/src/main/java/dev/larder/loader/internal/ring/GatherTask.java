package dev.larder.loader.internal.ring;

import org.jspecify.annotations.Nullable;

/** What a thread has to do next: a batch to plan, and rows of it to gather; each thread has one of these and uses it again and again. */
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

    /** Takes a slot whose batch is to be planned. */
    void plan(RingSlot slot) {
        this.slot = slot;
        this.planning = true;
        this.first = 0;
        this.count = 0;
    }

    /** Takes the next rows of a slot. */
    void gather(RingSlot slot, int rows) {
        this.slot = slot;
        this.planning = false;
        slot.busy++;
        claimRows(slot, rows);
    }

    /** Takes the first rows of the slot that was planned. */
    void claimRows(RingSlot slot, int rows) {
        this.first = slot.unclaimed;
        this.count = Math.min(rows, slot.size - slot.unclaimed);
        slot.unclaimed += count;
    }
}
