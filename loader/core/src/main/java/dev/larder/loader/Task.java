package dev.larder.loader;

import org.jspecify.annotations.Nullable;

/** What a thread has to do next: rows to gather, of a batch that it may have to plan before; each thread has one of these and uses it again and again. */
final class Task {
    @Nullable
    Slot slot;

    boolean planning;
    int first;
    int count;

    void clear() {
        slot = null;
    }

    /** Takes a slot whose batch is to be planned, and its first rows. */
    void plan(Slot slot, int rows) {
        this.slot = slot;
        this.planning = true;
        claimRows(slot, rows);
    }

    /** Takes the next rows of a slot. */
    void gather(Slot slot, int rows) {
        this.slot = slot;
        this.planning = false;
        claimRows(slot, rows);
    }

    private void claimRows(Slot slot, int rows) {
        this.first = slot.unclaimed;
        this.count = Math.min(rows, slot.size - slot.unclaimed);
        slot.unclaimed += count;
        slot.busy++;
    }
}
