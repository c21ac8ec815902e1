package dev.larder.server.source.formats;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/** Reads numbers out of text, one after the other, without garbage where they have at most 15 digits. */
final class NumberText {
    /** What a field holds. */
    enum Kind {
        MISSING,
        /** A whole number from -2^63 to 2^63 - 1. */
        INTEGER,
        /** A whole number from 2^63 to 2^64 - 1, in the bits of {@link #integer}. */
        UNSIGNED,
        REAL,
        NONE
    }

    private static final double[] POWERS_OF_TEN = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22
    };
    private static final int EXACT_DIGITS = 15;
    private static final int LONGEST = 1_000;
    private static final int DOUBLE_DIGITS = 53;

    private long integer;
    private double real;
    private boolean isWhole;

    /** The field that was read last if it is a number of more than 15 digits or with an exponent; else null. */
    private @Nullable String longWord;

    /** Returns the last {@link Kind#INTEGER} or {@link Kind#UNSIGNED}. */
    long integer() {
        return integer;
    }

    /** Returns the last number of any kind, rounded to the nearest double; NaN for one that is missing. */
    double real() {
        return real;
    }

    /** Returns whether the last number is written without a point and without an exponent. */
    boolean isWhole() {
        return isWhole;
    }

    /** Returns whether {@link #real} is exactly the last number, not a rounded one. */
    boolean isExact() {
        String word = longWord;
        if (word == null) {
            return true;
        } else if (real == 0) { // its exponent may be beyond those that BigDecimal has
            return word.replaceFirst("[eE].*", "").chars().noneMatch(c -> c >= '1' && c <= '9');
        }
        return !Double.isInfinite(real) && new BigDecimal(word).compareTo(new BigDecimal(real)) == 0;
    }

    /** Returns whether a double has a whole number exactly. */
    static boolean isExact(long bits, boolean isUnsigned) {
        long magnitude = isUnsigned || bits >= 0 ? bits : -bits; // that of -2^63 is 2^63, unsigned
        return Long.SIZE - Long.numberOfLeadingZeros(magnitude) - Long.numberOfTrailingZeros(magnitude)
                <= DOUBLE_DIGITS;
    }

    /** Reads a field; white space around it does not matter. */
    Kind read(char[] text, int offset, int length) {
        int start = offset;
        int end = offset + length;
        while (start < end && text[start] <= ' ') {
            start++;
        }
        while (end > start && text[end - 1] <= ' ') {
            end--;
        }
        longWord = null;
        if (start == end) {
            real = Double.NaN;
            return Kind.MISSING;
        } else if (end - start > LONGEST) {
            return Kind.NONE;
        }
        if (readDigits(text, start, end)) {
            return isWhole ? Kind.INTEGER : Kind.REAL;
        }
        return readWord(new String(text, start, end - start));
    }

    /**
     * Reads {@code [+-]digits[.digits][e[+-]digits]} of at most 15 digits and a small exponent: then digits and power of ten are
     * doubles without error, and so one multiplication or division rounds correctly (Clinger, How to read floating point
     * numbers accurately, 1990).
     */
    private boolean readDigits(char[] text, int start, int end) {
        boolean negative = text[start] == '-';
        int at = negative || text[start] == '+' ? start + 1 : start;
        long digits = 0;
        int count = 0;
        int fraction = 0;
        int point = -1;
        for (; at < end; at++) {
            char c = text[at];
            if (c >= '0' && c <= '9') {
                digits = digits * 10 + (c - '0');
                count += digits == 0 ? 0 : 1;
                fraction += point < 0 ? 0 : 1;
                if (count > EXACT_DIGITS || fraction >= POWERS_OF_TEN.length) {
                    return false;
                }
            } else if (c == '.' && point < 0) {
                point = at;
            } else {
                return false;
            }
        }
        int signs = negative || text[start] == '+' ? 1 : 0;
        if (end - start - signs - (point < 0 ? 0 : 1) == 0) {
            return false;
        }
        isWhole = point < 0;
        integer = negative ? -digits : digits;
        double magnitude = digits / POWERS_OF_TEN[fraction];
        real = negative ? -magnitude : magnitude;
        return true;
    }

    private Kind readWord(String word) {
        return switch (word) {
            case "nan", "NaN", "NAN", "NA", "N/A", "null", "NULL", "None" -> found(Kind.MISSING, Double.NaN);
            case "inf", "+inf", "Inf", "+Inf", "Infinity", "+Infinity" -> found(Kind.REAL, Double.POSITIVE_INFINITY);
            case "-inf", "-Inf", "-Infinity" -> found(Kind.REAL, Double.NEGATIVE_INFINITY);
            default -> isNumber(word) ? readLong(word) : Kind.NONE;
        };
    }

    private Kind found(Kind kind, double value) {
        real = value;
        isWhole = false;
        return kind;
    }

    /** Excludes what Java reads but nobody writes: hexadecimal numbers, and 1f or 1d. */
    private static boolean isNumber(String word) {
        boolean digits = false;
        for (int i = 0; i < word.length(); i++) {
            char c = word.charAt(i);
            digits |= c >= '0' && c <= '9';
            if ("0123456789+-.eE".indexOf(c) < 0) {
                return false;
            }
        }
        return digits;
    }

    private Kind readLong(String word) {
        try {
            real = Double.parseDouble(word);
        } catch (NumberFormatException e) {
            return Kind.NONE;
        }
        isWhole = word.chars().noneMatch(c -> c == '.' || c == 'e' || c == 'E');
        longWord = word;
        if (!isWhole) {
            return Kind.REAL;
        }
        try {
            integer = Long.parseLong(word);
            return Kind.INTEGER;
        } catch (NumberFormatException e) {
            return readUnsigned(word);
        }
    }

    private Kind readUnsigned(String word) {
        try {
            integer = Long.parseUnsignedLong(word);
            return Kind.UNSIGNED;
        } catch (NumberFormatException e) {
            return Kind.REAL;
        }
    }
}
