package dev.larder.server.source.text;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/** Reads numbers out of text, one after the other, without garbage if they have at most 19 digits. Used by one thread. */
final class NumberText {
    /** The content of a field. */
    enum Kind {
        MISSING,
        /** A whole number from -2^63 to 2^63 - 1. */
        INTEGER,
        /** A whole number from 2^63 to 2^64 - 1, in the bits of {@link #integer}. */
        UNSIGNED,
        REAL,
        NONE
    }

    private static final Set<String> MISSING_WORDS = Set.of("nan", "NaN", "NAN", "NA", "N/A", "null", "NULL", "None");
    private static final Set<String> INFINITE_WORDS = Set.of("inf", "Inf", "Infinity");
    private static final int LONGEST_WORD = "-Infinity".length();
    private static final int LONG_DIGITS = 19;
    private static final int LONGEST = 1_000;
    private static final int LARGEST_EXPONENT = 100_000;
    private static final int DOUBLE_DIGITS = 53;

    private byte[] bytes = {};
    private int start;
    private int end;

    private long integer;
    private double real;
    private boolean isWhole;
    private Kind kind = Kind.NONE;

    /** Returns the last {@link Kind#INTEGER} or {@link Kind#UNSIGNED}. */
    long integer() {
        return integer;
    }

    /** Returns the last number of any kind, rounded to the nearest double; NaN for one that is missing. */
    double real() {
        return switch (kind) {
            case INTEGER -> integer == 0 ? real : integer;
            case UNSIGNED -> real(integer, true);
            default -> real;
        };
    }

    /** Returns the double nearest to an integer. */
    static double real(long integer, boolean isUnsigned) {
        return isUnsigned && integer < 0 ? ((integer >>> 1) | (integer & 1)) * 2.0 : (double) integer;
    }

    /** Returns whether {@link #real} is exactly the last number, not a rounded one; also if it is no whole number. */
    boolean isExact() {
        if (kind == Kind.INTEGER || kind == Kind.UNSIGNED) {
            long magnitude =
                    kind == Kind.UNSIGNED || integer >= 0 ? integer : -integer; // that of -2^63 is 2^63, unsigned
            return Long.SIZE - Long.numberOfLeadingZeros(magnitude) - Long.numberOfTrailingZeros(magnitude)
                    <= DOUBLE_DIGITS;
        } else if (real == 0) { // its exponent may be beyond those that BigDecimal has
            return word().replaceFirst("[eE].*", "").chars().noneMatch(c -> c >= '1' && c <= '9');
        }
        return !Double.isInfinite(real) && new BigDecimal(word()).compareTo(new BigDecimal(real)) == 0;
    }

    /** Returns whether float64 would change the last number though it is written without a point and an exponent. */
    boolean isRounded() {
        return isWhole && !isExact();
    }

    /** Reads a field; white space around it does not matter. */
    Kind read(Cell cell) {
        bytes = cell.bytes();
        start = cell.start();
        end = cell.end();
        while (start < end && bytes[start] <= ' ' && bytes[start] >= 0) {
            start++;
        }
        while (end > start && bytes[end - 1] <= ' ' && bytes[end - 1] >= 0) {
            end--;
        }
        isWhole = false;
        kind = start == end ? missing() : end - start > LONGEST ? Kind.NONE : readNumber();
        return kind;
    }

    private Kind missing() {
        real = Double.NaN;
        return Kind.MISSING;
    }

    /** Reads {@code [+-]digits[.digits][e[+-]digits]}, one digit at least before the exponent. */
    private Kind readNumber() {
        byte[] text = bytes;
        int last = end;
        boolean isNegative = text[start] == '-';
        int first = isNegative || text[start] == '+' ? start + 1 : start;
        int at = first;
        long digits = 0;
        int point = -1;
        for (; at < last; at++) {
            int digit = text[at] - '0';
            if (digit >= 0 && digit <= 9) {
                digits = digits * 10 + digit;
            } else if (digit == '.' - '0' && point < 0) {
                point = at;
            } else {
                break;
            }
        }
        int count = at - first - (point < 0 ? 0 : 1);
        if (count == 0) {
            return readWord();
        }
        int exponent = point < 0 ? 0 : point + 1 - at;
        isWhole = at == last && point < 0;
        if (at < last) {
            int read = exponent(at);
            if (read == Integer.MIN_VALUE) {
                return Kind.NONE;
            }
            exponent += read;
        }
        if (count > LONG_DIGITS && significantDigits(first, at) > LONG_DIGITS) {
            return readLong();
        } else if (isWhole && (!isNegative || digits >= 0 || digits == Long.MIN_VALUE)) {
            integer = isNegative ? -digits : digits;
            real = isNegative ? -0.0 : 0.0;
            return digits >= 0 || isNegative ? Kind.INTEGER : Kind.UNSIGNED;
        }
        double magnitude = Decimals.nearest(digits, exponent);
        if (Double.isNaN(magnitude)) {
            real = Double.parseDouble(word());
        } else {
            real = isNegative ? -magnitude : magnitude;
        }
        return Kind.REAL;
    }

    private int significantDigits(int first, int end) {
        int count = 0;
        for (int i = first; i < end; i++) {
            count += bytes[i] != '.' && (count > 0 || bytes[i] != '0') ? 1 : 0;
        }
        return count;
    }

    /** Returns the exponent from {@code place} to the end; {@code Integer.MIN_VALUE} if there is none. */
    private int exponent(int place) {
        int at = place;
        if (bytes[at] != 'e' && bytes[at] != 'E') {
            return Integer.MIN_VALUE;
        }
        at++;
        boolean isNegative = at < end && bytes[at] == '-';
        if (isNegative || (at < end && bytes[at] == '+')) {
            at++;
        }
        if (at == end) {
            return Integer.MIN_VALUE;
        }
        int exponent = 0;
        for (; at < end; at++) {
            int digit = bytes[at] - '0';
            if (digit < 0 || digit > 9) {
                return Integer.MIN_VALUE;
            }
            exponent = Math.min(LARGEST_EXPONENT, exponent * 10 + digit);
        }
        return isNegative ? -exponent : exponent;
    }

    private Kind readWord() {
        if (end - start > LONGEST_WORD) {
            return Kind.NONE;
        }
        String word = word();
        boolean isNegative = word.startsWith("-");
        if (MISSING_WORDS.contains(word)) {
            return missing();
        } else if (!INFINITE_WORDS.contains(isNegative || word.startsWith("+") ? word.substring(1) : word)) {
            return Kind.NONE;
        }
        real = isNegative ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
        return Kind.REAL;
    }

    /** Reads a number of more digits than a long has. */
    private Kind readLong() {
        String word = word();
        real = Double.parseDouble(word);
        if (isWhole && !word.startsWith("-")) {
            try {
                integer = Long.parseUnsignedLong(word);
                return Kind.UNSIGNED;
            } catch (NumberFormatException e) {
                return Kind.REAL;
            }
        }
        return Kind.REAL;
    }

    private String word() {
        return new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
    }
}
