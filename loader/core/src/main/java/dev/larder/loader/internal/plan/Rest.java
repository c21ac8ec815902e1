package dev.larder.loader.internal.plan;

import dev.larder.loader.internal.sample.Runs;
import java.util.Arrays;

/**
 * What is left of an epoch: units that were passed over, and then all from one on. A unit is what ranks are dealt: a sample's place in
 * the epoch, or a whole batch of a batch sampler. Immutable.
 */
public final class Rest {
    private static final long[] NONE = {};

    private final long[] passedOver;
    private final long reached;

    private Rest(long[] passedOver, long reached) {
        this.passedOver = passedOver;
        this.reached = reached;
    }

    /** Returns all units from one on. */
    public static Rest from(long unit) {
        return new Rest(NONE, unit);
    }

    /** Returns some units, in ascending order, and all from one on that comes after them. */
    static Rest of(long[] passedOver, long reached) {
        for (int i = 0; i < passedOver.length; i++) {
            long least = i == 0 ? 0 : passedOver[i - 1] + 1;
            if (passedOver[i] < least || passedOver[i] >= reached) {
                throw new IllegalArgumentException("units that are left do not ascend below the one reached: unit="
                        + passedOver[i] + " reached=" + reached);
            }
        }
        return new Rest(passedOver, reached);
    }

    /** Returns the n-th unit that is left; those beyond the last of the epoch go on counting. */
    long unit(long n) {
        return n < passedOver.length ? passedOver[(int) n] : reached + (n - passedOver.length);
    }

    /** Returns how many units are left of so many. */
    long count(long units) {
        int before = passedOver.length;
        if (before > 0 && units <= passedOver[before - 1]) {
            int found = Arrays.binarySearch(passedOver, units);
            return found < 0 ? -found - 1 : found;
        }
        return before + Math.max(0, units - reached);
    }

    /** Returns what is left after so many more. */
    Rest after(long units) {
        return units < passedOver.length
                ? new Rest(Arrays.copyOfRange(passedOver, (int) units, passedOver.length), reached)
                : from(unit(units));
    }

    /** Returns whether units were passed over: else a number says it all. */
    public boolean hasGaps() {
        return passedOver.length > 0;
    }

    /** Returns the unit from which on all are left, and none before it but for those passed over. */
    public long reached() {
        return reached;
    }

    @Override
    public String toString() {
        return "left=" + Runs.toText(passedOver) + " reached=" + reached;
    }
}
