package dev.larder.loader.internal.ring;

import dev.larder.loader.internal.plan.Plan;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The next sample that a gather thread will claim. Guarded by the ring while it is found; then its reader owns it. */
final class NextSample {
    /** Null if no batch is left to begin. */
    @Nullable
    Plan plan;

    long batch;
    int sample;

    /** Finds it: in the earliest batch that was begun and has unclaimed rows, else in the next batch to begin. */
    void find(PlanQueue plans, List<RingSlot> slots) {
        plan = plans.filling();
        batch = plans.nextBatch();
        sample = 0;
        for (int i = 0; i < slots.size(); i++) {
            RingSlot slot = slots.get(i);
            boolean isUnclaimed = !slot.ready && !slot.abandoned && (!slot.planned || slot.unclaimed < slot.size);
            if (slot.isOf(plan) && isUnclaimed && slot.number < batch) {
                batch = slot.number;
                sample = slot.unclaimed;
            }
        }
    }
}
