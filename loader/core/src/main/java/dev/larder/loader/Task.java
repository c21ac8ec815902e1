package dev.larder.loader;

import org.jspecify.annotations.Nullable;

/** What a thread has to do next; each thread has one of these and uses it again and again. */
final class Task {
    @Nullable
    Slot slot;

    boolean planning;
    int first;
    int count;

    void clear() {
        slot = null;
    }

    void plan(Slot slot) {
        this.slot = slot;
        this.planning = true;
    }

    /** Takes the next rows of a slot. */
    void gather(Slot slot, int rows) {
        this.slot = slot;
        this.planning = false;
        this.first = slot.unclaimed;
        this.count = Math.min(rows, slot.size - slot.unclaimed);
        slot.unclaimed += count;
        slot.busy++;
    }
}
