package dev.larder.command.show;

import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.ByteBuffer;
import java.util.function.LongConsumer;

/**
 * Sums all elements of an array of numbers up, in one pass and in bounded memory.
 *
 * <p>Mean and standard deviation (of the population, as numpy's) are those of the finite elements, in double precision whatever
 * the type: each block is summed in two passes, and blocks are combined by the pairwise formula of Chan, Golub and LeVeque (1979).
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
    private double min = Double.POSITIVE_INFINITY;
    private double max = Double.NEGATIVE_INFINITY;
    private long minInteger = Long.MAX_VALUE;
    private long maxInteger = Long.MIN_VALUE;
    private long finiteCount;
    private double mean;
    private double squares;

    private Statistics(Dtype dtype) {
        this.dtype = dtype;
    }

    /** Tells whether the elements are numbers: booleans, integers or floats. */
    public static boolean arePossible(Cells cells) {
        return Numbers.isNumber(cells.dtype());
    }

    /**
     * Reads a whole array of numbers.
     *
     * @param onElements told of every step
     */
    public static Statistics of(Cells cells, LongConsumer onElements) {
        Statistics statistics = new Statistics(cells.dtype());
        double[] block = new double[BLOCK];
        for (long element = 0; element < cells.elementCount(); ) {
            ByteBuffer bytes = cells.elementsFrom(element);
            int elements = bytes.capacity() / cells.dtype().itemSize();
            for (int from = 0; from < elements; from += BLOCK) {
                statistics.add(bytes, from, Math.min(BLOCK, elements - from), block);
            }
            element += elements;
            onElements.accept(elements);
        }
        return statistics;
    }

    private void add(ByteBuffer bytes, int from, int length, double[] block) {
        int itemSize = dtype.itemSize();
        boolean isInteger = dtype.kind() != Kind.FLOAT;
        long flip = dtype.kind() == Kind.UINT ? Long.MIN_VALUE : 0; // makes unsigned numbers compare as signed ones
        int finite = 0;
        double sum = 0;
        for (int i = 0; i < length; i++) {
            int position = (from + i) * itemSize;
            if (isInteger) {
                long integer = Numbers.integerAt(dtype, bytes, position) ^ flip;
                minInteger = Math.min(minInteger, integer);
                maxInteger = Math.max(maxInteger, integer);
            }
            double value = Numbers.at(dtype, bytes, position);
            if (Double.isNaN(value)) {
                nanCount++;
                continue;
            }
            min = Math.min(min, value);
            max = Math.max(max, value);
            if (Double.isInfinite(value)) {
                infiniteCount++;
            } else {
                block[finite++] = value;
                sum += value;
            }
        }
        count += length;
        if (finite > 0) {
            combine(block, finite, sum / finite);
        }
    }

    /** Takes a block in: the squares of its distances from its own mean, and the distance of that from the mean so far. */
    private void combine(double[] block, int length, double blockMean) {
        double blockSquares = 0;
        double rest = 0;
        for (int i = 0; i < length; i++) {
            double distance = block[i] - blockMean;
            blockSquares += distance * distance;
            rest += distance;
        }
        double corrected = blockMean + rest / length;
        double distance = corrected - mean;
        long both = finiteCount + length;
        squares += blockSquares - rest * rest / length + distance * distance * ((double) finiteCount * length / both);
        mean += distance * length / both;
        finiteCount = both;
    }

    /** Returns the number of elements. */
    public long count() {
        return count;
    }

    /** Returns how many elements are not a number; they count nowhere else. */
    public long nanCount() {
        return nanCount;
    }

    /** Returns how many elements are infinite; they count in the smallest and largest only. */
    public long infiniteCount() {
        return infiniteCount;
    }

    /** Returns the number of elements that mean and standard deviation are of. */
    public long finiteCount() {
        return finiteCount;
    }

    /** Returns the smallest element; NaN where there is none. */
    public double min() {
        return count == nanCount ? Double.NaN : min;
    }

    /** Returns the largest element; NaN where there is none. */
    public double max() {
        return count == nanCount ? Double.NaN : max;
    }

    /** Returns the mean; NaN where there is no finite element. */
    public double mean() {
        return finiteCount == 0 ? Double.NaN : mean;
    }

    /** Returns the standard deviation; NaN where there is no finite element. */
    public double std() {
        if (finiteCount == 0) {
            return Double.NaN;
        }
        return Double.isNaN(squares) ? Double.POSITIVE_INFINITY : Math.sqrt(Math.max(0, squares) / finiteCount);
    }

    /** Tells whether the smallest and the greatest value are integers, which their texts say without rounding. */
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

    /** Writes a double with nine digits, or fewer where they say it all. */
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
