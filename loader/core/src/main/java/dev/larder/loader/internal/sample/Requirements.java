package dev.larder.loader.internal.sample;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;

/** Checks that rows, subsets and values for rows fit together. */
public final class Requirements {
    /** The longest array that every JVM allocates. */
    public static final long MAX_ROWS = Integer.MAX_VALUE - 8;

    private Requirements() {}

    /** Checks that a dataset has all rows of a subset. */
    public static void rows(RowList subset, long rows) {
        if (subset.end() > rows) {
            throw Failure.of(ErrorCode.BAD_INPUT, "subset has rows beyond the last")
                    .with("subset", subset.description())
                    .with("rows", rows)
                    .remedy("make the subset for this dataset's number of rows");
        }
    }

    /** Checks that there is one number for each row. */
    public static void sameRows(String what, long count, long rows) {
        if (count != rows) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the dataset's rows differ in number from the " + what)
                    .with(what, count)
                    .with("rows", rows)
                    .remedy("give one for each row");
        }
    }

    /** Checks that an array can have one element for each row; returns its length. */
    public static int arrayLength(String what, long count) {
        if (count > MAX_ROWS) {
            throw Failure.of(ErrorCode.BAD_INPUT, "too many " + what)
                    .with("count", count)
                    .with("max", MAX_ROWS)
                    .exception();
        }
        return (int) count;
    }
}
