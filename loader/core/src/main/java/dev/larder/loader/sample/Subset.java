package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.ListedRows;
import dev.larder.loader.internal.sample.NestedRows;
import dev.larder.loader.internal.sample.RangeRows;
import dev.larder.loader.internal.sample.RowList;
import dev.larder.loader.internal.sample.Splits;
import java.util.List;

/**
 * A list of rows of a dataset, each with a place counted from 0. {@link Sampler#over} visits them instead of all rows.
 *
 * <p>Parts of a {@link #split(long, long, double...)} and of {@link #kFold(long, int, long)} take no memory; others take 4 bytes a
 * row, or 8. All are immutable.
 */
public final class Subset {
    private final RowList list;

    private Subset(RowList list) {
        this.list = list;
    }

    RowList list() {
        return list;
    }

    /** Returns the number of rows. */
    public long size() {
        return list.size();
    }

    /** Returns the row at a place, 0 to {@code size() - 1}. */
    public long row(long place) {
        return list.row(place);
    }

    /** Returns the smallest number of rows that a dataset must have: one more than the largest row. */
    public long end() {
        return list.end();
    }

    /** Returns a short description. Subsets with equal descriptions are equal. */
    public String description() {
        return list.description();
    }

    /**
     * Reads this as a subset of a subset: its rows are places of {@code outer}. So
     * {@code fold.training().within(parts.get(0))} has rows of the first part only.
     */
    public Subset within(Subset outer) {
        return new Subset(new NestedRows(list, outer.list));
    }

    /** Returns the given rows, in this order; a row may occur more than once. The array is copied. */
    public static Subset of(long... rows) {
        return new Subset(ListedRows.of(rows));
    }

    /** Returns consecutive rows. */
    public static Subset range(long first, long count) {
        return new Subset(new RangeRows(first, count));
    }

    /**
     * Divides rows {@code 0} to {@code rows - 1} at random into parts: no row is in two of them, and each is in one.
     *
     * <p>Their sizes are {@code rows} times each fraction, rounded down; what is left goes, one row each, to the parts that lost most
     * by rounding, the first of equals first. Within a part rows are in random order. The same seed gives the same parts on any
     * machine.
     *
     * @param fractions above 0, and 1 in sum
     */
    public static List<Subset> split(long rows, long seed, double... fractions) {
        return parts(Splits.split(rows, seed, fractions));
    }

    /**
     * Divides rows at random into parts that each have their fraction of every class, rounded up or down; their sizes are nearly
     * those of {@link #split(long, long, double...)}. Within a part rows are in ascending order.
     */
    public static List<Subset> split(Labels labels, long seed, double... fractions) {
        return parts(Splits.split(labels.groups(), seed, fractions));
    }

    /**
     * Divides rows {@code 0} to {@code rows - 1} at random into {@code k} parts with sizes that differ by at most one, larger ones first.
     * Returns the fold of each part, which validates on it.
     */
    public static List<Fold> kFold(long rows, int k, long seed) {
        return folds(Splits.kFold(rows, k, seed));
    }

    /** Divides rows at random into {@code k} parts with the same number of rows of every class, or one more or less. */
    public static List<Fold> kFold(Labels labels, int k, long seed) {
        return folds(Splits.kFold(labels.groups(), k, seed));
    }

    /** One of the rounds of a cross-validation: every row is in one of the two. */
    public record Fold(Subset training, Subset validation) {}

    private static List<Subset> parts(List<RowList> lists) {
        return lists.stream().map(Subset::new).toList();
    }

    private static List<Fold> folds(List<Splits.Fold> rounds) {
        return rounds.stream()
                .map(round -> new Fold(new Subset(round.training()), new Subset(round.validation())))
                .toList();
    }

    @Override
    public String toString() {
        return description();
    }
}
