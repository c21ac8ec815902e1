package dev.larder.command.show;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * A finite float and the fewest decimal digits that distinguish it from other values of its type, as numpy prints it. Before version
 * 19, the JDK sometimes prints too many digits.
 *
 * @param exact the value with all digits
 * @param shortest the fewest digits, nearest to the value
 * @param isNegative its sign, even for zero
 */
record FloatDigits(BigDecimal exact, BigDecimal shortest, boolean isNegative) {
    private static final int MOST_DIGITS = 17;
    private static final int HALF_BYTES = 2;
    private static final int HALF_LEAST_EXPONENT = -14;
    private static final int HALF_FRACTION_BITS = 10;

    /** Returns the digits of a float with this number of bytes. */
    static FloatDigits of(double value, int itemSize) {
        BigDecimal exact = new BigDecimal(Math.abs(value));
        boolean isNegative = 1 / value < 0 || value < 0;
        return new FloatDigits(exact, shortest(Math.abs(value), exact, itemSize), isNegative);
    }

    private static BigDecimal shortest(double value, BigDecimal exact, int itemSize) {
        if (value == 0) {
            return BigDecimal.ZERO;
        }
        BigDecimal two = BigDecimal.valueOf(2);
        BigDecimal above = new BigDecimal(gap(value, itemSize)).divide(two);
        BigDecimal below = isPowerOfTwo(value) && value > least(itemSize) ? above.divide(two) : above;
        for (int digits = 1; digits < MOST_DIGITS; digits++) {
            BigDecimal candidate = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
            BigDecimal difference = candidate.subtract(exact);
            boolean isNearest = difference.signum() >= 0
                    ? difference.compareTo(above) < 0
                    : difference.negate().compareTo(below) < 0;
            if (isNearest) {
                return candidate.stripTrailingZeros();
            }
        }
        return exact.round(new MathContext(MOST_DIGITS, RoundingMode.HALF_EVEN)).stripTrailingZeros();
    }

    private static double gap(double value, int itemSize) {
        return switch (itemSize) {
            case HALF_BYTES ->
                Math.scalb(1.0, Math.max(HALF_LEAST_EXPONENT, Math.getExponent(value)) - HALF_FRACTION_BITS);
            case Float.BYTES -> Math.ulp((float) value);
            default -> Math.ulp(value);
        };
    }

    /** Returns the smallest normal number; below it, values are evenly spaced. */
    private static double least(int itemSize) {
        return switch (itemSize) {
            case HALF_BYTES -> Math.scalb(1.0, HALF_LEAST_EXPONENT);
            case Float.BYTES -> Float.MIN_NORMAL;
            default -> Double.MIN_NORMAL;
        };
    }

    private static boolean isPowerOfTwo(double value) {
        return (Double.doubleToLongBits(value) & 0xf_ffff_ffff_ffffL) == 0;
    }

    /** Returns the value with at most {@code precision} digits after the point, without trailing zeros. */
    BigDecimal positional(int precision) {
        BigDecimal rounded =
                shortest.scale() <= precision ? shortest : exact.setScale(precision, RoundingMode.HALF_EVEN);
        return rounded.stripTrailingZeros();
    }

    /** Returns the value with at most {@code precision} digits after the first one, without trailing zeros. */
    BigDecimal scientific(int precision) {
        BigDecimal rounded = shortest.precision() <= precision + 1
                ? shortest
                : exact.round(new MathContext(precision + 1, RoundingMode.HALF_EVEN));
        return rounded.stripTrailingZeros();
    }
}
