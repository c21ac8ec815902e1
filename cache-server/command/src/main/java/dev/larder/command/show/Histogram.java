package dev.larder.command.show;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Counts of the finite elements of an array between evenly spaced edges, the last edge included, as numpy counts them. */
public final class Histogram {
    private static final int MOST_BINS = 16;
    private static final int BAR_WIDTH = 48;

    /** The edges, one more than counts. */
    private final double[] edges;

    /** The number of elements from one edge to below the next. */
    private final long[] counts;

    private final double width;
    private final double start;

    /** Creates a bin for each integer if they are few, else bins of equal width. */
    Histogram(boolean areIntegers, double min, double max) {
        boolean isCounted = areIntegers && max - min < MOST_BINS && max + 1 > max;
        double end = isCounted ? max + 1 : max > min ? max : Math.max(min + 1, Math.nextUp(min));
        int bins = isCounted ? (int) (end - min) : MOST_BINS;
        this.width = end / bins - min / bins;
        this.start = min / width;
        this.edges = new double[bins + 1];
        this.counts = new long[bins];
        Arrays.setAll(edges, i -> min + width * i);
        edges[bins] = end;
    }

    /** Counts an element. Ignores one beyond the edges, which an array in place has if a program writes to its file. */
    void add(double value, long times) {
        int last = counts.length - 1;
        if (!(value >= edges[0] && value <= edges[last + 1])) {
            return;
        }
        int bin = (int) Math.min(last, Math.max(0, value / width - start));
        if (value < edges[bin]) {
            bin--;
        } else if (bin < last && value >= edges[bin + 1]) {
            bin++;
        }
        counts[bin] += times;
    }

    void add(Histogram other) {
        Arrays.setAll(counts, bin -> counts[bin] + other.counts[bin]);
    }

    /** Returns the height of each bar, if the highest is {@code height}. */
    int[] bars(int height) {
        long most = Math.max(1, Arrays.stream(counts).max().orElse(1));
        return Arrays.stream(counts)
                .mapToInt(count -> (int) Math.ceil((double) count / most * height))
                .toArray();
    }

    /** Returns a line with a bar for each bin. */
    List<String> lines() {
        List<String> texts = FloatTexts.of(edges, Double.BYTES, false);
        int[] bars = bars(BAR_WIDTH);
        int digits = Arrays.stream(counts)
                .mapToInt(count -> Long.toString(count).length())
                .max()
                .orElse(1);
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            String line = String.format(
                    Locale.ROOT, "%s  %" + digits + "d  %s", texts.get(i), counts[i], "#".repeat(bars[i]));
            lines.add(line.stripTrailing());
        }
        return lines;
    }

    /** Writes the edges and the counts. */
    public void write(JsonWriter json) throws IOException {
        json.name("histogram").beginObject().name("edges").beginArray();
        for (double edge : edges) {
            json.value(edge);
        }
        json.endArray().name("counts").beginArray();
        for (long count : counts) {
            json.value(count);
        }
        json.endArray().endObject();
    }
}
