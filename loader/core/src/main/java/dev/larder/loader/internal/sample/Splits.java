package dev.larder.loader.internal.sample;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** Divides rows into parts; each part is a slice of one order of all rows. */
public final class Splits {
    private Splits() {}

    /** The rows for training and for validation in one round of a cross-validation. */
    public record Fold(RowList training, RowList validation) {}

    /** Divides rows at random. */
    public static List<RowList> split(long rows, long seed, double... fractions) {
        return slices(PermutedRows.of(rows, seed), Apportionment.of(fractions).sizes(rows));
    }

    /** Divides rows at random into equal parts. */
    public static List<Fold> kFold(long rows, int k, long seed) {
        requireFolds(rows, k);
        return folds(PermutedRows.of(rows, seed), foldSizes(rows, k));
    }

    /** Divides the rows of each class at random. */
    public static List<RowList> split(Groups classes, long seed, double... fractions) {
        Apportionment shares = Apportionment.of(fractions);
        long[] wanted = shares.sizes(classes.rows());
        long[][] sizes = new long[classes.groups()][];
        for (int c = 0; c < sizes.length; c++) {
            long count = classes.size(c);
            sizes[c] = new long[shares.parts()];
            for (int part = 0; part < shares.parts(); part++) {
                sizes[c][part] = shares.floor(count, part);
                wanted[part] -= sizes[c][part];
            }
        }
        for (int c = 0; c < sizes.length; c++) {
            roundUp(sizes[c], shares, classes.size(c), wanted);
        }
        long[] totals = new long[shares.parts()];
        for (long[] ofClass : sizes) {
            Arrays.setAll(totals, part -> totals[part] + ofClass[part]);
        }
        return slices(arranged(classes, seed, sizes, totals), totals);
    }

    /** Divides the rows of each class at random into equal parts. */
    public static List<Fold> kFold(Groups classes, int k, long seed) {
        requireFolds(classes.rows(), k);
        long[][] sizes = new long[classes.groups()][k];
        long dealt = 0;
        for (int c = 0; c < sizes.length; c++) {
            long count = classes.size(c);
            for (int i = 0; i < k; i++) { // the last part of one class is the last of the next
                long turn = Math.floorMod(i - dealt, (long) k);
                sizes[c][i] = count / k + (turn < count % k ? 1 : 0);
            }
            dealt += count;
        }
        long[] totals = foldSizes(classes.rows(), k);
        return folds(arranged(classes, seed, sizes, totals), totals);
    }

    /** Gives the rows of a class that remain after rounding down to the eligible parts that lack most rows. */
    private static void roundUp(long[] sizes, Apportionment shares, long count, long[] wanted) {
        long left = count - Arrays.stream(sizes).sum();
        IntStream.range(0, sizes.length)
                .filter(part -> shares.remainder(count, part).signum() > 0)
                .boxed()
                .sorted(Comparator.comparingLong((Integer part) -> wanted[part])
                        .thenComparing((Integer part) -> shares.remainder(count, part), BigDecimal::compareTo)
                        .reversed())
                .limit(left)
                .forEach(part -> {
                    sizes[part]++;
                    wanted[part]--;
                });
    }

    /** Returns the rows part by part, each with its number of rows of every class, in ascending order. */
    private static RowList arranged(Groups classes, long seed, long[][] sizes, long[] totals) {
        int[] rows = new int[classes.rows()];
        int[] next = new int[totals.length];
        for (int part = 1; part < next.length; part++) {
            next[part] = next[part - 1] + (int) totals[part - 1];
        }
        int[] starts = next.clone();
        for (int c = 0; c < sizes.length; c++) {
            Permutation order = Permutation.of(classes.size(c), seed, 0, c, Draws.SPLIT_CLASS);
            long place = 0;
            for (int part = 0; part < next.length; part++) {
                for (long end = place + sizes[c][part]; place < end; place++) {
                    rows[next[part]++] = classes.row(c, order.at(place));
                }
            }
        }
        for (int part = 0; part < next.length; part++) {
            Arrays.sort(rows, starts[part], next[part]);
        }
        return ListedRows.owning(rows, rows.length);
    }

    private static void requireFolds(long rows, int k) {
        if (k < 2 || k > rows) {
            throw new IllegalArgumentException(
                    "folds must be 2 to as many as there are rows: k=" + k + " rows=" + rows);
        }
    }

    private static long[] foldSizes(long rows, int k) {
        long[] sizes = new long[k];
        Arrays.setAll(sizes, fold -> rows / k + (fold < rows % k ? 1 : 0));
        return sizes;
    }

    private static List<RowList> slices(RowList whole, long[] sizes) {
        List<RowList> parts = new ArrayList<>();
        long first = 0;
        for (long size : sizes) {
            parts.add(new SlicedRows(whole, first, size));
            first += size;
        }
        return List.copyOf(parts);
    }

    private static List<Fold> folds(RowList whole, long[] sizes) {
        List<Fold> folds = new ArrayList<>();
        long first = 0;
        for (long size : sizes) {
            folds.add(new Fold(new SplicedRows(whole, first, size), new SlicedRows(whole, first, size)));
            first += size;
        }
        return List.copyOf(folds);
    }
}
