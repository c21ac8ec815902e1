package dev.larder.command.show;

import com.google.gson.stream.JsonWriter;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Statistics of all elements of an array of numbers: their extremes and their mean from a first pass, their distances from the mean and
 * a histogram from a second.
 *
 * <p>Mean and standard deviation (of the population, as numpy's) are those of the finite elements, in double precision for every type.
 */
public final class Statistics {
    private static final MathContext DIGITS = new MathContext(9);
    private static final double LEAST_PLAIN = 1e-4;
    private static final double MOST_PLAIN = 1e9;

    private final Dtype dtype;
    private final Extremes extremes;
    private final Spread spread;

    private Statistics(Dtype dtype, Extremes extremes, Spread spread) {
        this.dtype = dtype;
        this.extremes = extremes;
        this.spread = spread;
    }

    /** Returns whether the elements are numbers: booleans, integers or floats. */
    public static boolean arePossible(Cells cells) {
        return Numbers.isNumber(cells.dtype());
    }

    /** Returns the number of bytes that {@link #of} reads: those of elements of more than two bytes twice. */
    public static long bytesToRead(Cells cells) {
        return cells.byteSize() * (Elements.areCounted(cells.dtype()) ? 1 : 2);
    }

    /**
     * Reads a whole array of numbers.
     *
     * @param onBytes receives the number of bytes after every step, from one thread at a time
     */
    public static Statistics of(Cells cells, LongConsumer onBytes) {
        Dtype dtype = cells.dtype();
        Elements elements = new Elements(cells, onBytes);
        Extremes extremes = elements.collect(Extremes::new, Extremes::add, Extremes::add);
        Spread spread = elements.collect(() -> new Spread(dtype, extremes), Spread::add, Spread::add);
        return new Statistics(dtype, extremes, spread);
    }

    /** The result of the first pass. */
    private static final class Extremes {
        private long count;
        private long nanCount;
        private long negativeInfinities;
        private long positiveInfinities;
        private long finiteCount;
        private double finiteMin = Double.POSITIVE_INFINITY;
        private double finiteMax = Double.NEGATIVE_INFINITY;
        private long minInteger = Long.MAX_VALUE;
        private long maxInteger = Long.MIN_VALUE;
        private double sum;

        void add(Elements.Block block) {
            double blockSum = 0;
            long finite = 0;
            double min = finiteMin;
            double max = finiteMax;
            for (int i = 0; i < block.length; i++) {
                double value = block.values[i];
                if (Double.isFinite(value)) {
                    finite += block.times[i];
                    blockSum += value * block.times[i];
                    min = value < min ? value : min;
                    max = value > max ? value : max;
                } else {
                    addOther(value, block.times[i]);
                }
                count += block.times[i];
                minInteger = Math.min(minInteger, block.integers[i]);
                maxInteger = Math.max(maxInteger, block.integers[i]);
            }
            finiteMin = min;
            finiteMax = max;
            finiteCount += finite;
            sum += blockSum;
        }

        private void addOther(double value, long times) {
            if (Double.isNaN(value)) {
                nanCount += times;
            } else if (value < 0) {
                negativeInfinities += times;
            } else {
                positiveInfinities += times;
            }
        }

        void add(Extremes next) {
            count += next.count;
            nanCount += next.nanCount;
            negativeInfinities += next.negativeInfinities;
            positiveInfinities += next.positiveInfinities;
            finiteCount += next.finiteCount;
            finiteMin = Math.min(finiteMin, next.finiteMin);
            finiteMax = Math.max(finiteMax, next.finiteMax);
            minInteger = Math.min(minInteger, next.minInteger);
            maxInteger = Math.max(maxInteger, next.maxInteger);
            sum += next.sum;
        }
    }

    /** The result of the second pass. */
    private static final class Spread {
        private final double mean;
        private final Histogram histogram;
        private double squares;

        Spread(Dtype dtype, Extremes extremes) {
            boolean isEmpty = extremes.finiteCount == 0;
            mean = isEmpty ? 0 : extremes.sum / extremes.finiteCount;
            histogram = new Histogram(
                    dtype.kind() != Kind.FLOAT, isEmpty ? 0 : extremes.finiteMin, isEmpty ? 0 : extremes.finiteMax);
        }

        void add(Elements.Block block) {
            double blockSquares = 0;
            for (int i = 0; i < block.length; i++) {
                double value = block.values[i];
                if (Double.isFinite(value)) {
                    double distance = value - mean;
                    blockSquares += distance * distance * block.times[i];
                    histogram.add(value, block.times[i]);
                }
            }
            squares += blockSquares;
        }

        void add(Spread next) {
            squares += next.squares;
            histogram.add(next.histogram);
        }
    }

    /** Returns the number of finite elements, the base of mean, standard deviation and histogram. */
    public long finiteCount() {
        return extremes.finiteCount;
    }

    /** Returns how often the finite elements occur. */
    public Histogram histogram() {
        return spread.histogram;
    }

    private boolean areAllNan() {
        return extremes.count == extremes.nanCount;
    }

    private double min() {
        return areAllNan()
                ? Double.NaN
                : extremes.negativeInfinities > 0 ? Double.NEGATIVE_INFINITY : extremes.finiteMin;
    }

    private double max() {
        return areAllNan()
                ? Double.NaN
                : extremes.positiveInfinities > 0 ? Double.POSITIVE_INFINITY : extremes.finiteMax;
    }

    private double mean() {
        return extremes.finiteCount == 0 ? Double.NaN : spread.mean;
    }

    private double std() {
        return extremes.finiteCount == 0 ? Double.NaN : Math.sqrt(spread.squares / extremes.finiteCount);
    }

    /** Writes counts, minimum, maximum, mean and standard deviation. */
    public void write(JsonWriter json) throws IOException {
        json.name("count").value(extremes.count);
        json.name("nanCount").value(extremes.nanCount);
        json.name("infiniteCount").value(extremes.negativeInfinities + extremes.positiveInfinities);
        boolean areIntegers = dtype.kind() == Kind.INT || dtype.kind() == Kind.UINT;
        if (areIntegers && extremes.count > 0) {
            json.name("min").jsonValue(text(extremes.minInteger, min()));
            json.name("max").jsonValue(text(extremes.maxInteger, max()));
        } else {
            CellJson.number(json.name("min"), min());
            CellJson.number(json.name("max"), max());
        }
        CellJson.number(json.name("mean"), mean());
        CellJson.number(json.name("std"), std());
    }

    /** Returns one line of numbers, and those of a histogram if there is any finite element. */
    public List<String> lines() {
        long infinite = extremes.negativeInfinities + extremes.positiveInfinities;
        List<String> lines = new ArrayList<>();
        lines.add("min=" + text(extremes.minInteger, min()) + " max=" + text(extremes.maxInteger, max()) + " mean="
                + number(mean()) + " std=" + number(std()) + " count=" + extremes.count + " nan=" + extremes.nanCount
                + (infinite == 0 ? "" : " inf=" + infinite));
        if (extremes.finiteCount > 0) {
            lines.addAll(spread.histogram.lines());
        }
        return lines;
    }

    /** Returns an extreme as text, all digits of an integer. */
    private String text(long integer, double value) {
        if (areAllNan()) {
            return "nan";
        }
        return switch (dtype.kind()) {
            case UINT -> Long.toUnsignedString(integer ^ Long.MIN_VALUE);
            case INT -> Long.toString(integer);
            case BOOL -> integer == 0 ? "False" : "True";
            default -> number(value);
        };
    }

    /** Returns a double as text with at most nine digits. */
    private static String number(double value) {
        if (!Double.isFinite(value)) {
            return FloatTexts.word(value);
        }
        BigDecimal rounded = new BigDecimal(value).round(DIGITS).stripTrailingZeros();
        boolean isPlain = value == 0 || (Math.abs(value) >= LEAST_PLAIN && Math.abs(value) < MOST_PLAIN);
        if (!isPlain) {
            return rounded.toString().replace('E', 'e');
        }
        return rounded.scale() <= 0 ? rounded.setScale(1).toPlainString() : rounded.toPlainString();
    }
}
