package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.ListedRows;
import dev.larder.loader.internal.sample.NestedRows;
import dev.larder.loader.internal.sample.RangeRows;
import dev.larder.loader.internal.sample.RowList;
import dev.larder.loader.internal.sample.Splits;
import java.util.List;

/**
 * Some rows of a dataset, each with a place counted from 0: what {@link Sampler#over} visits instead of all rows.
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

    /** Returns how many rows there are. */
    public long size() {
        return list.size();
    }

    /** Returns the row at a place, 0 to {@code size() - 1}. */
    public long row(long place) {
        return list.row(place);
    }

    /** Returns a number above every row: at least so many rows must a dataset have. */
    public long end() {
        return list.end();
    }

    /** Says in a few words which rows these are: two that say the same are the same. */
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

    /** Returns the given rows, in this order; one may be given more than once. The array is copied. */
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
     * Divides rows at random into parts that each have their fraction of every class, rounded up or down; all in all they are as large
     * as those of {@link #split(long, long, double...)}, or nearly so. Within a part rows are in ascending order.
     */
    public static List<Subset> split(Labels labels, long seed, double... fractions) {
        return parts(Splits.split(labels.groups(), seed, fractions));
    }

    /**
     * Divides rows {@code 0} to {@code rows - 1} at random into {@code k} parts whose sizes differ by one at most, larger ones first,
     * and returns for each the fold that validates on it.
     */
    public static List<Fold> kFold(long rows, int k, long seed) {
        return folds(Splits.kFold(rows, k, seed));
    }

    /** Divides rows at random into {@code k} parts, of which each has as many of every class as the others, or one more or less. */
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
