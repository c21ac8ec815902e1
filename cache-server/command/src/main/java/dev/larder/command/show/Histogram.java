package dev.larder.command.show;

import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * How often the finite elements of an array fall between evenly spaced edges, the last one included, as numpy counts.
 *
 * @param edges one more than there are counts
 * @param counts how many elements lie from an edge to before the next
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Histogram(double[] edges, long[] counts) {
    private static final int MOST_BINS = 16;
    private static final int BAR_WIDTH = 48;

    /** Counts all elements between the smallest and the largest finite one, in a second pass over the array. */
    public static Histogram of(Cells cells, LongConsumer onElements) {
        double[] range = finiteRange(cells);
        double[] edges = edges(cells.dtype(), range[0], range[1]);
        long[] counts = new long[edges.length - 1];
        for (long element = 0; element < cells.elementCount(); ) {
            ByteBuffer bytes = cells.elementsFrom(element);
            int itemSize = cells.dtype().itemSize();
            int elements = bytes.capacity() / itemSize;
            for (int i = 0; i < elements; i++) {
                double value = Numbers.at(cells.dtype(), bytes, i * itemSize);
                if (value >= edges[0] && value <= edges[edges.length - 1]) {
                    counts[bin(value, edges)]++;
                }
            }
            element += elements;
            onElements.accept(elements);
        }
        return new Histogram(edges, counts);
    }

    private static double[] finiteRange(Cells cells) {
        double min = Double.POSITIVE_INFINITY;
        double max = Double.NEGATIVE_INFINITY;
        for (long element = 0; element < cells.elementCount(); ) {
            ByteBuffer bytes = cells.elementsFrom(element);
            int itemSize = cells.dtype().itemSize();
            int elements = bytes.capacity() / itemSize;
            for (int i = 0; i < elements; i++) {
                double value = Numbers.at(cells.dtype(), bytes, i * itemSize);
                if (Double.isFinite(value)) {
                    min = Math.min(min, value);
                    max = Math.max(max, value);
                }
            }
            element += elements;
        }
        return min <= max ? new double[] {min, max} : new double[] {0, 0};
    }

    /** Integers that are few have a bin each; all other ranges are cut evenly. */
    private static double[] edges(Dtype dtype, double min, double max) {
        boolean isCounted = dtype.kind() != Kind.FLOAT && max - min < MOST_BINS && max + 1 > max;
        double end = isCounted ? max + 1 : max > min ? max : Math.max(min + 1, Math.nextUp(min));
        int bins = isCounted ? (int) (end - min) : MOST_BINS;
        double[] edges = new double[bins + 1];
        Arrays.setAll(edges, i -> min + (end / bins - min / bins) * i);
        edges[bins] = end;
        return edges;
    }

    private static int bin(double value, double[] edges) {
        int bins = edges.length - 1;
        double width = edges[bins] / bins - edges[0] / bins;
        int bin = (int) Math.min(bins - 1, Math.max(0, (value / width) - (edges[0] / width)));
        if (value < edges[bin]) {
            return bin - 1;
        }
        return bin < bins - 1 && value >= edges[bin + 1] ? bin + 1 : bin;
    }

    /** Returns a line with a bar for each bin. */
    public List<String> lines() {
        long most = Math.max(1, Arrays.stream(counts).max().orElse(1));
        FloatTexts texts = new FloatTexts(edges, Double.BYTES, false);
        int digits = Long.toString(most).length();
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            int length = (int) Math.ceil((double) counts[i] / most * BAR_WIDTH);
            String count = Long.toString(counts[i]);
            lines.add((texts.text(edges[i]) + "  " + " ".repeat(digits - count.length()) + count + "  "
                            + "#".repeat(length))
                    .stripTrailing());
        }
        return lines;
    }
}
