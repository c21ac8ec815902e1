package dev.larder.loader.internal.ring;

import dev.larder.loader.internal.plan.Plan;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The running plan, the following plan, and the next batch to begin: first all batches of the running plan, then those of the following
 * one. Guarded by the ring.
 */
final class PlanQueue {
    /** Null before an epoch and after its end. */
    private @Nullable Plan running;

    private @Nullable Plan following;

    /** The plan of the next batch to begin. */
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

    /** Returns the plan of the next batch to begin; null if there is none. */
    @Nullable
    Plan filling() {
        return unbegunOfFilling() > 0 || following == null ? filling : following;
    }

    /** Returns the number of the next batch to begin. */
    long nextBatch() {
        return filling() == filling ? nextBatch : 0;
    }

    void start(Plan next) {
        running = next;
        fill(next);
    }

    /** Sets the plan that follows the running one; returns false if {@code expected} has ended, or another plan follows it. */
    boolean follow(Plan expected, Plan next) {
        boolean follows = running == expected && following == null;
        if (follows) {
            following = next;
        }
        return follows;
    }

    /** Makes the following plan the running one. The last one has ended. */
    void advance() {
        running = following;
        following = null;
    }

    /** Ends the running plan; returns whether all its batches were begun. */
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

    /** Returns the number of batches of both plans that were not begun yet. */
    int unbegun() {
        long ahead = following == null || filling == following ? 0 : following.batches();
        return (int) Math.min(Integer.MAX_VALUE, unbegunOfFilling() + ahead);
    }

    private long unbegunOfFilling() {
        return Math.max(0, endBatch - nextBatch);
    }

    /** Begins the next batch in a slot. */
    void begin(RingSlot slot, long turn) {
        if (unbegunOfFilling() == 0) {
            fill(following);
        }
        slot.begin(Objects.requireNonNull(filling), nextBatch++, turn);
    }

    /** Begins no more batches of the epoch of a failed one. */
    void endAfter(RingSlot failed) {
        if (failed.isOf(filling)) {
            endBatch = nextBatch;
        }
    }
}
