package dev.larder.loader.internal.sample;

/** Some rows of a dataset, each with a place counted from 0. Immutable. */
public sealed interface RowList permits RangeRows, ListedRows, PermutedRows, SlicedRows, SplicedRows, NestedRows {
    /** Returns how many rows there are. */
    long size();

    /** Returns the row at a place, 0 to {@code size() - 1}. */
    long row(long place);

    /** Returns a number above every row: at least so many rows must a dataset have. */
    long end();

    /** Says in a few words which rows these are: two that say the same are the same. */
    String description();
}
