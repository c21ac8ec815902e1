package dev.larder.distributed;

/** The operation that combines the elements of all ranks, in the order of the ranks. */
public enum ReduceOp {
    /** Integers wrap around. */
    SUM(1),

    /** The sum, divided by the number of ranks with one more rounding; not of integers. */
    AVG(2),

    /** As {@link Math#min(double, double)}: NaN wins, and -0 is below 0. */
    MIN(3),

    /** As {@link Math#max(double, double)}: NaN wins, and 0 is above -0. */
    MAX(4),

    /** Integers wrap around. */
    PROD(5);

    private final int number;

    ReduceOp(int number) {
        this.number = number;
    }

    /** Returns the number that ranks compare. */
    int number() {
        return number;
    }
}
