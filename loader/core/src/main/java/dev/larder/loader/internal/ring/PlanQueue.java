package dev.larder.loader.internal.ring;

import dev.larder.loader.internal.plan.Plan;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The plan whose batches the consumer takes, the one that follows it, and how far slots were begun for them: first for all of the one, then
 * for the other. Guarded by the ring.
 */
final class PlanQueue {
    /** Nothing before an epoch and after its end. */
    private @Nullable Plan running;

    private @Nullable Plan following;

    /** Which of the two slots are begun for. */
    private @Nullable Plan filling;

    private long nextBatch;
    private long endBatch;

    @Nullable
    Plan running() {
        return running;
    }

    @Nullable
    Plan following() {
        return following;
    }

    /** Returns the number of the batch that is begun next. */
    long nextBatch() {
        return nextBatch;
    }

    void start(Plan next) {
        running = next;
        fill(next);
    }

    /** Takes note of what comes after the running plan; false where that has ended, or something does already. */
    boolean follow(Plan expected, Plan next) {
        boolean follows = running == expected && following == null;
        if (follows) {
            following = next;
        }
        return follows;
    }

    /** Lets the plan run that follows; the one before has ended. */
    void advance() {
        running = following;
        following = null;
    }

    /** Ends the running plan, and tells whether all of its batches were begun. */
    boolean endRunning() {
        boolean isBegun = filling != running || unbegunOfFilling() == 0;
        if (filling == running) {
            fill(following);
        }
        running = null;
        return isBegun;
    }

    void endFollowing() {
        following = null;
        fill(null);
    }

    private void fill(@Nullable Plan next) {
        filling = next;
        nextBatch = 0;
        endBatch = next == null ? 0 : next.batches();
    }

    /** Returns how many batches nobody has begun yet, those of the plan that follows included. */
    int unbegun() {
        long ahead = following == null || filling == following ? 0 : following.batches();
        return (int) Math.min(Integer.MAX_VALUE, unbegunOfFilling() + ahead);
    }

    private long unbegunOfFilling() {
        return Math.max(0, endBatch - nextBatch);
    }

    /** Takes a slot for the next batch. */
    void begin(RingSlot slot, long turn) {
        if (unbegunOfFilling() == 0) {
            fill(following);
        }
        slot.begin(Objects.requireNonNull(filling), nextBatch++, turn);
    }

    /** Begins no batch after this one, which cannot be had, in its epoch. */
    void endAfter(RingSlot failed) {
        if (failed.isOf(filling)) {
            endBatch = Math.min(endBatch, failed.number + 1);
        }
    }
}
