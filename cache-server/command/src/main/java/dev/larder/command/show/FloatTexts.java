package dev.larder.command.show;

import dev.larder.internal.number.Half;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Formats a group of floats as numpy does: with aligned points, at most eight digits after them, and with exponents if values are very
 * large, very small or far apart.
 */
final class FloatTexts {
    private static final int PRECISION = 8;
    private static final double LARGE = 1e8;
    private static final double SMALL = 1e-4;
    private static final double FAR_APART = 1000;
    private static final int MOST_DIGITS = 17;

    private final int itemSize;
    private final boolean showsPlus;
    private final boolean isScientific;

    /** The widths of the group: up to the point, between the point and the exponent, and of the exponent with its sign. */
    private int left;

    private int right;
    private int exponent;

    private FloatTexts(double[] values, int itemSize, boolean showsPlus) {
        this.itemSize = itemSize;
        this.showsPlus = showsPlus;
        double[] sizes = Arrays.stream(values)
                .filter(value -> Double.isFinite(value) && value != 0)
                .map(Math::abs)
                .toArray();
        double most = Arrays.stream(sizes).max().orElse(1);
        double least = Arrays.stream(sizes).min().orElse(1);
        this.isScientific = most >= LARGE || least < SMALL || most / least > FAR_APART;
    }

    /**
     * Returns the text of each value; all have the same width.
     *
     * @param itemSize the bytes of a value in the array
     * @param showsPlus whether positive numbers have a sign
     */
    static List<String> of(double[] values, int itemSize, boolean showsPlus) {
        FloatTexts format = new FloatTexts(values, itemSize, showsPlus);
        String[] texts = Arrays.stream(values).mapToObj(format::shortText).toArray(String[]::new);
        for (String text : texts) {
            format.widen(text);
        }
        int rest = 1 + format.right + (format.isScientific ? 1 + format.exponent : 0);
        int width = Arrays.stream(texts).mapToInt(String::length).reduce(format.left + rest, Math::max);
        for (int i = 0; i < texts.length; i++) {
            texts[i] = format.aligned(values[i], texts[i], width - rest, width);
        }
        return List.of(texts);
    }

    /** Returns the sign of a number, also of zero. */
    static String sign(double value) {
        return value < 0 || 1 / value < 0 ? "-" : "";
    }

    /** Returns numpy's word for a value that is not finite. */
    static String word(double value) {
        return Double.isNaN(value) ? "nan" : sign(value) + "inf";
    }

    /**
     * Returns the fewest digits that distinguish the size of a finite float from other values of its type, without trailing zeros.
     * Before version 19, the JDK prints too many for some values.
     */
    static BigDecimal shortest(double value, int itemSize) {
        double size = Math.abs(value);
        BigDecimal exact = new BigDecimal(size);
        int digits = 1;
        while (digits < MOST_DIGITS && nearest(rounded(exact, digits), itemSize) != size) {
            digits++;
        }
        return rounded(exact, digits).stripTrailingZeros();
    }

    /** Returns the float of a type that is nearest to a number. */
    private static double nearest(BigDecimal number, int itemSize) {
        return switch (itemSize) {
            case Short.BYTES -> Half.toFloat(Half.ofDouble(number.doubleValue()));
            case Float.BYTES -> number.floatValue();
            default -> number.doubleValue();
        };
    }

    private static BigDecimal rounded(BigDecimal exact, int digits) {
        return exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
    }

    /** Returns a value with no more digits than it needs. */
    private String shortText(double value) {
        String sign = showsPlus && sign(value).isEmpty() ? "+" : sign(value);
        if (!Double.isFinite(value)) {
            return sign + word(Math.abs(value));
        }
        BigDecimal shown = shortest(value, itemSize);
        BigDecimal exact = new BigDecimal(Math.abs(value));
        if (isScientific) {
            if (shown.precision() > PRECISION + 1) {
                shown = rounded(exact, PRECISION + 1).stripTrailingZeros();
            }
            return sign + scientific(value, shown.precision() - 1);
        }
        if (shown.scale() > PRECISION) {
            shown = exact.setScale(PRECISION, RoundingMode.HALF_EVEN).stripTrailingZeros();
        }
        String text = shown.toPlainString();
        return sign + text + (text.indexOf('.') < 0 ? "." : "");
    }

    /** Returns the size of a value with an exponent and this number of digits after the point. */
    private static String scientific(double value, int digits) {
        return String.format(Locale.ROOT, "%#." + digits + "e", rounded(new BigDecimal(Math.abs(value)), digits + 1));
    }

    private void widen(String text) {
        int point = text.indexOf('.');
        if (point >= 0) {
            int end = isScientific ? text.indexOf('e') : text.length();
            left = Math.max(left, point);
            right = Math.max(right, end - point - 1);
            exponent = Math.max(exponent, text.length() - end - 1);
        }
    }

    /** Returns a text with its point at {@code pointAt}. Exponents follow as many true digits as the longest of the group has. */
    private String aligned(double value, String text, int pointAt, int width) {
        if (!Double.isFinite(value)) {
            return " ".repeat(width - text.length()) + text;
        }
        String indent = " ".repeat(pointAt - text.indexOf('.'));
        if (!isScientific) {
            return indent + text + " ".repeat(width - indent.length() - text.length());
        }
        String all = scientific(value, right);
        int end = all.indexOf('e') + 2;
        String zeros = "0".repeat(exponent - 1 - (all.length() - end));
        return indent + text.substring(0, text.indexOf('.') - 1) + all.substring(0, end) + zeros + all.substring(end);
    }
}
