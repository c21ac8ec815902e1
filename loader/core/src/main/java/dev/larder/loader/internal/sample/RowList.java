package dev.larder.loader.internal.sample;

/** A list of rows of a dataset, each with a place counted from 0. Immutable. */
public sealed interface RowList permits RangeRows, ListedRows, PermutedRows, SlicedRows, SplicedRows, NestedRows {
    /** Returns the number of rows. */
    long size();

    /** Returns the row at a place, 0 to {@code size() - 1}. */
    long row(long place);

    /** Returns the smallest number of rows that a dataset must have: one more than the largest row. */
    long end();

    /** Returns a short description. Lists with equal descriptions are equal. */
    String description();
}
