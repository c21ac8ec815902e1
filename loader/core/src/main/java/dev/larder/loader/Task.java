package dev.larder.loader;

import org.jspecify.annotations.Nullable;

/** What a thread has to do next: a batch to plan, and rows of it to gather; each thread has one of these and uses it again and again. */
final class Task {
    private final Workspace workspace;

    @Nullable
    Slot slot;

    boolean planning;
    int first;
    int count;

    Task(Workspace workspace) {
        this.workspace = workspace;
    }

    Workspace workspace() {
        return workspace;
    }

    void clear() {
        slot = null;
    }

    /** Takes a slot whose batch is to be planned. */
    void plan(Slot slot) {
        this.slot = slot;
        this.planning = true;
        this.first = 0;
        this.count = 0;
    }

    /** Takes the next rows of a slot. */
    void gather(Slot slot, int rows) {
        this.slot = slot;
        this.planning = false;
        slot.busy++;
        claimRows(slot, rows);
    }

    /** Takes the first rows of the slot that was planned. */
    void claimRows(Slot slot, int rows) {
        this.first = slot.unclaimed;
        this.count = Math.min(rows, slot.size - slot.unclaimed);
        slot.unclaimed += count;
    }
}
