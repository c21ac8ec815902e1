package dev.larder.loader.sample;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;

/** Refuses what does not belong together. */
final class Requirements {
    private Requirements() {}

    /** Checks that all rows of a subset are among those that there are. */
    static void rows(Subset subset, long rows) {
        if (subset.end() > rows) {
            throw Failure.of(ErrorCode.BAD_INPUT, "subset has rows beyond the last")
                    .with("subset", subset.description())
                    .with("rows", rows)
                    .remedy("make the subset for this dataset's number of rows");
        }
    }

    /** Checks that there is one number for each row. */
    static void sameRows(String what, long count, long rows) {
        if (count != rows) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the dataset's rows differ in number from the " + what)
                    .with(what, count)
                    .with("rows", rows)
                    .remedy("give one for each row");
        }
    }

    /** Checks that as many rows fit an array, which what knows something of each row needs. */
    static int arrayLength(String what, long count) {
        if (count > RandomOrder.MAX_ROWS) {
            throw Failure.of(ErrorCode.BAD_INPUT, "too many " + what)
                    .with("count", count)
                    .with("max", RandomOrder.MAX_ROWS)
                    .exception();
        }
        return (int) count;
    }
}
