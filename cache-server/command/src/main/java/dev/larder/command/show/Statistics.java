package dev.larder.command.show;

import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.ByteBuffer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Statistics of all elements of an array of numbers, computed in one pass with all processors; their number does not change the result.
 *
 * <p>Mean and standard deviation (of the population, as numpy's) are those of the finite elements, in double precision for every
 * type: each block is summed in two passes, and blocks are combined by the pairwise formula of Chan, Golub and LeVeque (1979).
 */
public final class Statistics {
    private static final int BLOCK = 4096;
    private static final MathContext DIGITS = new MathContext(9);
    private static final double LEAST_PLAIN = 1e-4;
    private static final double MOST_PLAIN = 1e9;

    private final Dtype dtype;
    private long count;
    private long nanCount;
    private long infiniteCount;
    private boolean hasInfinite;
    private boolean hasNegativeInfinite;
    private double finiteMin = Double.POSITIVE_INFINITY;
    private double finiteMax = Double.NEGATIVE_INFINITY;
    private @Nullable CodeCounts counts;
    private long minInteger = Long.MAX_VALUE;
    private long maxInteger = Long.MIN_VALUE;
    private long finiteCount;
    private double mean;
    private double squares;

    private Statistics(Dtype dtype) {
        this.dtype = dtype;
    }

    /** Returns whether the elements are numbers: booleans, integers or floats. */
    public static boolean arePossible(Cells cells) {
        return Numbers.isNumber(cells.dtype());
    }

    /**
     * Reads a whole array of numbers.
     *
     * @param onElements receives the number of elements after every step, from one thread at a time
     */
    public static Statistics of(Cells cells, LongConsumer onElements) {
        Statistics all = new Statistics(cells.dtype());
        if (CodeCounts.arePossible(cells.dtype())) {
            all.addCounted(CodeCounts.of(cells, onElements));
        } else {
            Windows.map(cells, onElements, bytes -> ofWindow(cells.dtype(), bytes))
                    .forEach(all::add);
        }
        return all;
    }

    private static Statistics ofWindow(Dtype dtype, ByteBuffer bytes) {
        Statistics statistics = new Statistics(dtype);
        double[] block = new double[BLOCK];
        int elements = bytes.capacity() / dtype.itemSize();
        for (int from = 0; from < elements; from += BLOCK) {
            int length = Math.min(BLOCK, elements - from);
            Numbers.read(dtype, bytes, from, block, length);
            statistics.add(block, length);
            if (Numbers.isInteger(dtype)) {
                statistics.addIntegers(bytes, from, length);
            }
        }
        return statistics;
    }

    private void addIntegers(ByteBuffer bytes, int from, int length) {
        for (int i = 0; i < length; i++) {
            addInteger(Numbers.integerAt(dtype, bytes, (from + i) * dtype.itemSize()));
        }
    }

    private void addInteger(long stored) {
        long integer = dtype.kind() == Kind.UINT
                ? stored ^ Long.MIN_VALUE
                : stored; // so that unsigned integers compare as signed ones
        if (integer < minInteger) {
            minInteger = integer;
        }
        if (integer > maxInteger) {
            maxInteger = integer;
        }
    }

    /** Adds a block, and moves its finite elements to its beginning. */
    private void add(double[] block, int length) {
        int finite = 0;
        double sum = 0;
        for (int i = 0; i < length; i++) {
            double value = block[i];
            if (Math.abs(value) <= Double.MAX_VALUE) {
                block[finite++] = value;
                sum += value;
                if (value < finiteMin) {
                    finiteMin = value;
                }
                if (value > finiteMax) {
                    finiteMax = value;
                }
            } else {
                addOther(value, 1);
            }
        }
        count += length;
        if (finite > 0) {
            combine(block, finite, sum / finite);
        }
    }

    private void addOther(double value, long times) {
        if (Double.isNaN(value)) {
            nanCount += times;
        } else {
            infiniteCount += times;
            hasInfinite |= value > 0;
            hasNegativeInfinite |= value < 0;
        }
    }

    private void addCounted(CodeCounts values) {
        counts = values;
        double[] sum = {0};
        values.forEach((bits, value, times) -> {
            count += times;
            if (dtype.kind() != Kind.FLOAT) {
                addInteger(Numbers.integerAt(dtype, bits, 0));
            }
            if (Double.isFinite(value)) {
                finiteCount += times;
                sum[0] += value * times;
                finiteMin = Math.min(finiteMin, value);
                finiteMax = Math.max(finiteMax, value);
            } else {
                addOther(value, times);
            }
        });
        mean = finiteCount == 0 ? 0 : sum[0] / finiteCount;
        values.forEach((bits, value, times) ->
                squares += Double.isFinite(value) ? times * (value - mean) * (value - mean) : 0);
    }

    private void add(Statistics next) {
        count += next.count;
        nanCount += next.nanCount;
        infiniteCount += next.infiniteCount;
        hasInfinite |= next.hasInfinite;
        hasNegativeInfinite |= next.hasNegativeInfinite;
        minInteger = Math.min(minInteger, next.minInteger);
        maxInteger = Math.max(maxInteger, next.maxInteger);
        finiteMin = Math.min(finiteMin, next.finiteMin);
        finiteMax = Math.max(finiteMax, next.finiteMax);
        combine(next.finiteCount, next.mean, next.squares);
    }

    /** Adds a block: the squared distances from its own mean, and the distance of its mean from the mean so far. */
    private void combine(double[] block, int length, double blockMean) {
        double blockSquares = 0;
        double rest = 0;
        for (int i = 0; i < length; i++) {
            double distance = block[i] - blockMean;
            blockSquares += distance * distance;
            rest += distance;
        }
        combine(length, blockMean + rest / length, blockSquares - rest * rest / length);
    }

    private void combine(long otherCount, double otherMean, double otherSquares) {
        if (otherCount == 0) {
            return;
        }
        double distance = otherMean - mean;
        long both = finiteCount + otherCount;
        squares += otherSquares + distance * distance * ((double) finiteCount * otherCount / both);
        mean += distance * otherCount / both;
        finiteCount = both;
    }

    /** Returns the number of elements. */
    public long count() {
        return count;
    }

    /** Returns the number of NaN elements, which all other values exclude. */
    public long nanCount() {
        return nanCount;
    }

    /** Returns the number of infinite elements, which count only for the smallest and the largest. */
    public long infiniteCount() {
        return infiniteCount;
    }

    /** Returns the number of finite elements, the base of mean and standard deviation. */
    public long finiteCount() {
        return finiteCount;
    }

    /** Returns the smallest element; NaN if there is none. */
    public double min() {
        return count == nanCount ? Double.NaN : hasNegativeInfinite ? Double.NEGATIVE_INFINITY : finiteMin;
    }

    /** Returns the largest element; NaN if there is none. */
    public double max() {
        return count == nanCount ? Double.NaN : hasInfinite ? Double.POSITIVE_INFINITY : finiteMax;
    }

    /** Returns the smallest finite element; positive infinity if there is none. */
    double finiteMin() {
        return finiteMin;
    }

    /** Returns the largest finite element; negative infinity if there is none. */
    double finiteMax() {
        return finiteMax;
    }

    /** Returns the count of each value; null for elements of more than two bytes. */
    @Nullable
    CodeCounts counts() {
        return counts;
    }

    /** Returns the mean; NaN if there is no finite element. */
    public double mean() {
        return finiteCount == 0 ? Double.NaN : mean;
    }

    /** Returns the standard deviation; NaN if there is no finite element. */
    public double std() {
        if (finiteCount == 0) {
            return Double.NaN;
        }
        return Double.isNaN(squares) ? Double.POSITIVE_INFINITY : Math.sqrt(Math.max(0, squares) / finiteCount);
    }

    /** Returns whether the elements are integers, so that minimum and maximum have exact texts. */
    public boolean areIntegers() {
        return (dtype.kind() == Kind.INT || dtype.kind() == Kind.UINT) && count() > 0;
    }

    /** Returns the smallest element as text, all digits of an integer. */
    public String minText() {
        return text(minInteger, min());
    }

    /** Returns the largest element as text, all digits of an integer. */
    public String maxText() {
        return text(maxInteger, max());
    }

    private String text(long integer, double value) {
        if (count == nanCount) {
            return "nan";
        } else if (dtype.kind() == Kind.UINT) {
            return Long.toUnsignedString(integer ^ Long.MIN_VALUE);
        } else if (dtype.kind() == Kind.INT) {
            return Long.toString(integer);
        } else if (dtype.kind() == Kind.BOOL) {
            return integer == 0 ? "False" : "True";
        }
        return number(value);
    }

    /** Returns a double as text with at most nine digits. */
    public static String number(double value) {
        if (!Double.isFinite(value)) {
            return Double.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
        }
        BigDecimal rounded = new BigDecimal(value).round(DIGITS).stripTrailingZeros();
        boolean isPlain = value == 0 || (Math.abs(value) >= LEAST_PLAIN && Math.abs(value) < MOST_PLAIN);
        if (!isPlain) {
            return rounded.toString().replace('E', 'e');
        }
        return rounded.scale() <= 0 ? rounded.setScale(1).toPlainString() : rounded.toPlainString();
    }
}
