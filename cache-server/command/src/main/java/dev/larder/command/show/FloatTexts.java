package dev.larder.command.show;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Arrays;

/**
 * Formats a group of floats as numpy does: with aligned points, at most eight digits after them, and with exponents if values are very
 * large, very small or far apart.
 */
final class FloatTexts {
    private static final int PRECISION = 8;
    private static final double LARGE = 1e8;
    private static final double SMALL = 1e-4;
    private static final double FAR_APART = 1000;

    private final int itemSize;
    private final boolean showsPlus;
    private final boolean isScientific;
    private int left;
    private int right;
    private int exponentDigits;

    /**
     * Chooses the format for all values of the group.
     *
     * @param showsPlus whether positive numbers have a sign
     */
    FloatTexts(double[] values, int itemSize, boolean showsPlus) {
        this.itemSize = itemSize;
        this.showsPlus = showsPlus;
        double[] sizes = Arrays.stream(values)
                .filter(value -> Double.isFinite(value) && value != 0)
                .map(Math::abs)
                .toArray();
        double most = Arrays.stream(sizes).max().orElse(1);
        double least = Arrays.stream(sizes).min().orElse(1);
        this.isScientific = most >= LARGE || least < SMALL || most / least > FAR_APART;
        for (double value : values) {
            if (Double.isFinite(value)) {
                measure(FloatDigits.of(value, itemSize));
            }
        }
        for (double value : values) {
            if (!Double.isFinite(value)) {
                left = Math.max(left, word(value).length() - (rightWidth() + 1));
            }
        }
    }

    private void measure(FloatDigits digits) {
        if (isScientific) {
            BigDecimal value = digits.scientific(PRECISION);
            left = Math.max(left, sign(digits).length() + 1);
            right = Math.max(right, value.signum() == 0 ? 0 : value.precision() - 1);
            exponentDigits = Math.max(exponentDigits, exponentText(value).length() - 1);
        } else {
            String text = sign(digits) + digits.positional(PRECISION).toPlainString();
            int point = text.indexOf('.');
            left = Math.max(left, point < 0 ? text.length() : point);
            right = Math.max(right, point < 0 ? 0 : text.length() - point - 1);
        }
    }

    private int rightWidth() {
        return isScientific ? exponentDigits + 2 + right : right;
    }

    /** Returns the text of one of the values; all texts have the same width. */
    String text(double value) {
        if (!Double.isFinite(value)) {
            String word = word(value);
            return " ".repeat(Math.max(0, left + rightWidth() + 1 - word.length())) + word;
        }
        FloatDigits digits = FloatDigits.of(value, itemSize);
        return isScientific ? scientific(digits) : positional(digits);
    }

    private String word(double value) {
        String plus = showsPlus ? "+" : "";
        return Double.isNaN(value) ? plus + "nan" : value < 0 ? "-inf" : plus + "inf";
    }

    private String sign(FloatDigits digits) {
        return digits.isNegative() ? "-" : showsPlus ? "+" : "";
    }

    private String positional(FloatDigits digits) {
        String text = sign(digits) + digits.positional(PRECISION).toPlainString();
        int point = text.indexOf('.');
        String whole = point < 0 ? text : text.substring(0, point);
        String fraction = point < 0 ? "" : text.substring(point + 1);
        return " ".repeat(left - whole.length()) + whole + "." + fraction + " ".repeat(right - fraction.length());
    }

    private String scientific(FloatDigits digits) {
        BigDecimal value = digits.scientific(PRECISION);
        String fraction = fraction(digits);
        String whole = sign(digits) + value.unscaledValue().toString().charAt(0);
        String exponent = exponentText(value);
        String zeros = "0".repeat(exponentDigits - (exponent.length() - 1));
        return " ".repeat(left - whole.length())
                + whole
                + "."
                + fraction
                + "e"
                + exponent.charAt(0)
                + zeros
                + exponent.substring(1);
    }

    /** Returns the digits after the first one, as many as the longest value of the group needs. */
    private String fraction(FloatDigits digits) {
        if (digits.exact().signum() == 0) {
            return "0".repeat(right);
        }
        BigDecimal value = digits.exact().round(new MathContext(right + 1, RoundingMode.HALF_EVEN));
        String all = value.unscaledValue().toString();
        return (all + "0".repeat(Math.max(0, right + 1 - all.length()))).substring(1, right + 1);
    }

    /** Returns the exponent with its sign and at least two digits. */
    private static String exponentText(BigDecimal value) {
        int exponent = value.signum() == 0 ? 0 : value.precision() - value.scale() - 1;
        return (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
    }
}
