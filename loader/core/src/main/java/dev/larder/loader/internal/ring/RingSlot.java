package dev.larder.loader.internal.ring;

import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.slot.HostSlot;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A slot of a {@link Ring}.
 *
 * <pre>
 *   free → planning → gathering → ready → open (in a DeliveredBatch) → free
 *              └──────────┴── abandoned (its epoch ended; free when the last thread has left it)
 * </pre>
 *
 * <p>What is here is guarded by the ring; memory and samples belong to the threads that hold a task of this slot, and afterwards to
 * the batch.
 */
final class RingSlot extends HostSlot {
    private @Nullable Plan plan;

    /** Counts the batches that were begun before it, in whatever epoch. */
    long turn;

    /** Rows from here on are nobody's task yet. */
    int unclaimed;

    /** Threads that plan or gather. */
    int busy;

    /** Whether the samples are known. */
    volatile boolean planned;

    boolean abandoned;

    @Nullable
    LarderException failure;

    /** Written under the ring's lock, read also by a spinning consumer. */
    volatile boolean ready;

    RingSlot(LoaderSource source, int samples, HostAllocator allocator) {
        super(source.arrays(), source.fields().size(), samples, allocator);
    }

    /** Gives the memory of all back, in the opposite order: when no thread can use it any more. */
    static void closeMemory(List<RingSlot> slots) {
        for (int i = slots.size() - 1; i >= 0; i--) {
            slots.get(i).closeMemory();
        }
    }

    /** Takes the slot for a batch that is to be planned. */
    void begin(Plan newPlan, long newBatch, long newTurn) {
        this.plan = newPlan;
        this.remainder = newPlan;
        this.turn = newTurn;
        this.epoch = newPlan.epoch();
        this.epochLength = newPlan.length();
        this.number = newBatch;
        this.size = 0;
        this.valid = 0;
        this.consumed = 0;
        this.counted = 0;
        this.taken = 0;
        this.takenSamples = 0;
        this.missingCount = 0;
        this.unclaimed = 0;
        this.busy = 1;
        this.badCount = 0;
        this.planned = false;
        this.abandoned = false;
        this.ended = false;
        this.failure = null;
        this.ready = false;
    }

    /** Returns the plan of the batch that the slot was last taken for. */
    Plan plan() {
        return Objects.requireNonNull(plan);
    }

    /** Tells whether the slot was last taken for a batch of this plan. */
    boolean isOf(@Nullable Plan some) {
        return some != null && plan == some;
    }

    boolean hasUnclaimedRows() {
        return planned && !abandoned && unclaimed < size;
    }
}
