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
 * <p>The fields here are guarded by the ring. Memory and samples belong to the threads with a task of this slot, and afterwards to the
 * batch.
 */
final class RingSlot extends HostSlot {
    private @Nullable Plan plan;

    /** The number of batches of all epochs that were begun before it. */
    long turn;

    /** The first row that no thread has claimed. */
    int unclaimed;

    /** The number of threads that plan or gather. */
    int busy;

    /** Whether the samples are known. */
    volatile boolean planned;

    boolean abandoned;

    @Nullable
    LarderException failure;

    /** Written under the ring's lock, read by a spinning consumer without it. */
    volatile boolean ready;

    RingSlot(LoaderSource source, int samples, HostAllocator allocator) {
        super(source.arrays(), source.fields().size(), samples, allocator);
    }

    /** Frees the memory of all slots in the opposite order of allocation. No thread may use it any more. */
    static void closeMemory(List<RingSlot> slots) {
        for (int i = slots.size() - 1; i >= 0; i--) {
            slots.get(i).closeMemory();
        }
    }

    /** Begins a batch in this slot. */
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

    /** Returns the plan of the last batch in this slot. */
    Plan plan() {
        return Objects.requireNonNull(plan);
    }

    /** Returns whether the last batch in this slot was of a plan. */
    boolean isOf(@Nullable Plan some) {
        return some != null && plan == some;
    }

    boolean hasUnclaimedRows() {
        return planned && !abandoned && unclaimed < size;
    }
}
