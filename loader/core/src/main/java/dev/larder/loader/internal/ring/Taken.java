package dev.larder.loader.internal.ring;

import java.util.Collection;
import java.util.List;

/** The batches of an epoch that the consumer has taken. Guarded by the ring. */
final class Taken {
    private long end;
    private long samples;
    private long skippedTerms;

    /** Clears the batches for another epoch. */
    void clear() {
        end = 0;
        samples = 0;
        skippedTerms = 0;
    }

    /**
     * Writes the taken batches, including its own, to a slot.
     *
     * @param slots all slots if batches come in any order, else none
     * @param line the slots with batches that were not taken
     */
    void note(RingSlot slot, List<RingSlot> slots, Collection<RingSlot> line) {
        end = Math.max(end, slot.number + 1);
        samples += slot.counted;
        skippedTerms += slot.skippedTerms;
        slot.taken = end;
        slot.takenSamples = samples;
        slot.takenSkippedTerms = skippedTerms;
        if (slot.missing.length < slots.size()) {
            slot.missing = new long[slots.size()]; // once for each slot
        }
        for (int i = 0; i < slots.size(); i++) {
            RingSlot other = slots.get(i);
            if (other.isOf(slot.plan()) && other.number < end && line.contains(other)) {
                slot.missing[slot.missingCount++] = other.number;
            }
        }
    }
}
