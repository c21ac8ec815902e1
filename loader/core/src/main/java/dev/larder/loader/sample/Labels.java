package dev.larder.loader.sample;

import dev.larder.client.ArrayView;
import dev.larder.loader.internal.sample.Fingerprint;
import dev.larder.loader.internal.sample.Groups;
import dev.larder.loader.internal.sample.IntegerArrays;
import dev.larder.loader.internal.sample.Requirements;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import org.agrona.collections.Long2LongHashMap;

/**
 * The class of each row, for samplers and splits that keep classes in proportion. Immutable; takes 4 bytes a row.
 *
 * <p>Any whole numbers can be labels; classes count from 0, in the order of their labels.
 */
public final class Labels {
    private final int[] classes;
    private final long[] labels;
    private final long[] counts;

    private Labels(int[] classes, long[] labels) {
        this.classes = classes;
        this.labels = labels;
        this.counts = new long[labels.length];
        for (int each : classes) {
            counts[each]++;
        }
    }

    /** Takes the label of each row. The array is copied. */
    public static Labels of(int... labels) {
        return read(labels.length, row -> labels[(int) row]);
    }

    /** Takes the label of each row. The array is copied. */
    public static Labels of(long... labels) {
        return read(labels.length, row -> labels[(int) row]);
    }

    /** Copies the label of each row from a one-dimensional array of integers or booleans. The caller may close the view. */
    public static Labels of(ArrayView labels) {
        return read(labels.rows(), IntegerArrays.of(labels));
    }

    private static Labels read(long rows, LongUnaryOperator label) {
        int[] classes = new int[Requirements.arrayLength("labels", rows)];
        Long2LongHashMap seen = new Long2LongHashMap(-1);
        for (int row = 0; row < classes.length; row++) {
            long value = label.applyAsLong(row);
            long known = seen.get(value);
            if (known < 0) {
                known = seen.size();
                seen.put(value, known);
            }
            classes[row] = (int) known;
        }
        long[] inOrder =
                seen.keySet().stream().mapToLong(Long::longValue).sorted().toArray();
        int[] renumbered = new int[inOrder.length];
        for (int i = 0; i < inOrder.length; i++) {
            renumbered[(int) seen.get(inOrder[i])] = i;
        }
        Arrays.setAll(classes, row -> renumbered[classes[row]]);
        return new Labels(classes, inOrder);
    }

    /** Returns the number of rows. */
    public long rows() {
        return classes.length;
    }

    /** Returns the number of different labels. */
    public int classes() {
        return labels.length;
    }

    /** Returns the label of a class. */
    public long label(int ofClass) {
        return labels[ofClass];
    }

    /** Returns the number of rows of a class. */
    public long count(int ofClass) {
        return counts[ofClass];
    }

    /** Returns the class of a row, 0 to {@code classes() - 1}. */
    public int classOf(long row) {
        return classes[(int) Objects.checkIndex(row, (long) classes.length)];
    }

    /**
     * Returns a weight for each row, inverse to the frequency of its class, 1 on average: with these weights, all classes are equally
     * likely.
     */
    public double[] balancingWeights() {
        double[] weights = new double[classes.length];
        Arrays.setAll(weights, row -> rows() / ((double) classes() * counts[classes[row]]));
        return weights;
    }

    /** Returns the labels of a subset's rows. Classes without a row in the subset are gone. */
    public Labels over(Subset subset) {
        Requirements.rows(subset.list(), rows());
        return read(subset.size(), place -> labels[classOf(subset.row(place))]);
    }

    /** Returns the rows class by class. */
    Groups groups() {
        return Groups.of(classes, classes());
    }

    String description() {
        return "labels(rows=" + rows() + " crc32c=" + Fingerprint.of(classes.length, row -> labels[classes[row]]) + ")";
    }

    @Override
    public String toString() {
        return "Labels{rows=" + rows() + " classes=" + classes() + "}";
    }
}
