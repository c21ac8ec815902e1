package dev.larder.loader.sample;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** Divides rows into parts: each is a stretch of one arrangement of all rows. */
final class Splits {
    private Splits() {}

    static List<Subset> split(long rows, long seed, double... fractions) {
        return slices(PermutedRows.of(rows, seed), Apportionment.of(fractions).sizes(rows));
    }

    static List<Subset.Fold> kFold(long rows, int k, long seed) {
        requireFolds(rows, k);
        return folds(PermutedRows.of(rows, seed), foldSizes(rows, k));
    }

    static List<Subset> split(Labels labels, long seed, double... fractions) {
        Apportionment shares = Apportionment.of(fractions);
        long[] wanted = shares.sizes(labels.rows());
        long[][] sizes = new long[labels.classes()][];
        for (int c = 0; c < sizes.length; c++) {
            long count = labels.count(c);
            sizes[c] = new long[shares.parts()];
            for (int part = 0; part < shares.parts(); part++) {
                sizes[c][part] = shares.floor(count, part);
                wanted[part] -= sizes[c][part];
            }
        }
        for (int c = 0; c < sizes.length; c++) {
            roundUp(sizes[c], shares, labels.count(c), wanted);
        }
        long[] totals = new long[shares.parts()];
        for (long[] ofClass : sizes) {
            Arrays.setAll(totals, part -> totals[part] + ofClass[part]);
        }
        return slices(arranged(labels, seed, sizes, totals), totals);
    }

    static List<Subset.Fold> kFold(Labels labels, int k, long seed) {
        requireFolds(labels.rows(), k);
        long[][] sizes = new long[labels.classes()][k];
        long dealt = 0;
        for (int c = 0; c < sizes.length; c++) {
            for (int i = 0; i < k; i++) { // who was served last in one class, is served last in the next
                long turn = Math.floorMod(i - dealt, (long) k);
                sizes[c][i] = labels.count(c) / k + (turn < labels.count(c) % k ? 1 : 0);
            }
            dealt += labels.count(c);
        }
        long[] totals = foldSizes(labels.rows(), k);
        return folds(arranged(labels, seed, sizes, totals), totals);
    }

    /** Gives what rounding down left of a class to parts that lack most rows, of those with a claim to it. */
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

    /** Lays out rows part by part, each with so many of every class, in ascending order. */
    private static Subset arranged(Labels labels, long seed, long[][] sizes, long[] totals) {
        int[] rows = new int[(int) labels.rows()];
        int[] next = new int[totals.length];
        for (int part = 1; part < next.length; part++) {
            next[part] = next[part - 1] + (int) totals[part - 1];
        }
        int[] starts = next.clone();
        Groups groups = labels.groups();
        for (int c = 0; c < sizes.length; c++) {
            Permutation order = Permutation.of(groups.size(c), seed, 0, c, Draws.SPLIT_CLASS);
            long place = 0;
            for (int part = 0; part < next.length; part++) {
                for (long end = place + sizes[c][part]; place < end; place++) {
                    rows[next[part]++] = groups.row(c, order.at(place));
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

    private static List<Subset> slices(Subset whole, long[] sizes) {
        List<Subset> parts = new ArrayList<>();
        long first = 0;
        for (long size : sizes) {
            parts.add(new SlicedRows(whole, first, size));
            first += size;
        }
        return List.copyOf(parts);
    }

    private static List<Subset.Fold> folds(Subset whole, long[] sizes) {
        List<Subset.Fold> folds = new ArrayList<>();
        long first = 0;
        for (long size : sizes) {
            folds.add(new Subset.Fold(new SplicedRows(whole, first, size), new SlicedRows(whole, first, size)));
            first += size;
        }
        return List.copyOf(folds);
    }
}
