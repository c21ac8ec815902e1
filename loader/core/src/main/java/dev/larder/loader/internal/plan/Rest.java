package dev.larder.loader.internal.plan;

import dev.larder.loader.internal.sample.Runs;
import java.util.Arrays;

/**
 * The remaining units of an epoch: single units that were skipped, and then all from one on. A unit is a position in the epoch, or a
 * whole batch of a batch sampler. Immutable.
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

    /** Returns skipped units, in ascending order, and all units from {@code reached} on. */
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

    /** Returns the n-th remaining unit; numbers continue beyond the last unit of the epoch. */
    long unit(long n) {
        return n < passedOver.length ? passedOver[(int) n] : reached + (n - passedOver.length);
    }

    /** Returns the number of remaining units of an epoch with {@code units} units. */
    long count(long units) {
        int before = passedOver.length;
        if (before > 0 && units <= passedOver[before - 1]) {
            int found = Arrays.binarySearch(passedOver, units);
            return found < 0 ? -found - 1 : found;
        }
        return before + Math.max(0, units - reached);
    }

    /** Returns the remaining units after {@code units} more are consumed. */
    Rest after(long units) {
        return units < passedOver.length
                ? new Rest(Arrays.copyOfRange(passedOver, (int) units, passedOver.length), reached)
                : from(unit(units));
    }

    /** Returns whether units were skipped; if not, {@link #reached} is enough. */
    public boolean hasGaps() {
        return passedOver.length > 0;
    }

    /** Returns the first unit of the part without gaps. */
    public long reached() {
        return reached;
    }

    @Override
    public String toString() {
        return "left=" + Runs.toText(passedOver) + " reached=" + reached;
    }
}
