package dev.larder.command.show;

import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Counts of the finite elements of an array between evenly spaced edges, the last edge included, as numpy counts them.
 *
 * @param edges the edges, one more than counts
 * @param counts the number of elements from one edge to below the next
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Histogram(double[] edges, long[] counts) {
    private static final int MOST_BINS = 16;
    private static final int BAR_WIDTH = 48;
    private static final int BLOCK = 4096;

    /** Counts all elements between the smallest and the largest finite one. */
    public static Histogram of(Cells cells, Statistics statistics, LongConsumer onElements) {
        boolean isEmpty = statistics.finiteCount() == 0;
        double[] edges =
                edges(cells.dtype(), isEmpty ? 0 : statistics.finiteMin(), isEmpty ? 0 : statistics.finiteMax());
        Bins bins = new Bins(edges);
        CodeCounts values = statistics.counts();
        if (values != null) {
            values.forEach((bits, value, count) -> bins.add(value, count));
        } else {
            Windows.map(cells, onElements, bytes -> ofWindow(cells.dtype(), bytes, edges))
                    .forEach(bins::add);
        }
        return new Histogram(edges, bins.counts);
    }

    private static Bins ofWindow(Dtype dtype, ByteBuffer bytes, double[] edges) {
        Bins bins = new Bins(edges);
        double[] block = new double[BLOCK];
        int elements = bytes.capacity() / dtype.itemSize();
        for (int from = 0; from < elements; from += BLOCK) {
            int length = Math.min(BLOCK, elements - from);
            Numbers.read(dtype, bytes, from, block, length);
            for (int i = 0; i < length; i++) {
                bins.add(block[i], 1);
            }
        }
        return bins;
    }

    /** Returns the edges: a bin for each integer if there are few, else bins of equal width. */
    private static double[] edges(Dtype dtype, double min, double max) {
        boolean isCounted = dtype.kind() != Kind.FLOAT && max - min < MOST_BINS && max + 1 > max;
        double end = isCounted ? max + 1 : max > min ? max : Math.max(min + 1, Math.nextUp(min));
        int bins = isCounted ? (int) (end - min) : MOST_BINS;
        double[] edges = new double[bins + 1];
        Arrays.setAll(edges, i -> min + (end / bins - min / bins) * i);
        edges[bins] = end;
        return edges;
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

    /** The counts so far. */
    private static final class Bins {
        private final double[] edges;
        private final double width;
        private final double start;
        private final long[] counts;

        Bins(double[] edges) {
            int bins = edges.length - 1;
            this.edges = edges;
            this.width = edges[bins] / bins - edges[0] / bins;
            this.start = edges[0] / width;
            this.counts = new long[bins];
        }

        void add(double value, long count) {
            int last = counts.length - 1;
            if (value >= edges[0] && value <= edges[last + 1]) {
                int bin = (int) Math.min(last, Math.max(0, value / width - start));
                if (value < edges[bin]) {
                    bin--;
                } else if (bin < last && value >= edges[bin + 1]) {
                    bin++;
                }
                counts[bin] += count;
            }
        }

        void add(Bins other) {
            for (int bin = 0; bin < counts.length; bin++) {
                counts[bin] += other.counts[bin];
            }
        }
    }
}
