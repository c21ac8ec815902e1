package dev.larder.server.source.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers are the doubles that Java reads, to the bit. */
class NumberTextTest {
    private static final int ROUNDS = 20_000;

    private final NumberText number = new NumberText();
    private final Cell cell = new Cell(Path.of("t.csv"));

    @ParameterizedTest
    @MethodSource
    void randomNumbersAreTheNearestDoubles(String form, Form texts) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < ROUNDS; i++) {
            String text = texts.next(random);

            NumberText.Kind kind = read(text);

            assertThat(kind)
                    .as(form + ": seed=" + seed + " text=" + text)
                    .isIn(NumberText.Kind.REAL, NumberText.Kind.INTEGER, NumberText.Kind.UNSIGNED);
            assertThat(bits()).as(form + ": seed=" + seed + " text=" + text).isEqualTo(bits(text));
        }
    }

    static Stream<Object[]> randomNumbersAreTheNearestDoubles() {
        return Stream.of(
                form("any bits", random -> Double.toString(finite(random))),
                form("17 digits", random -> String.format("%.16e", finite(random))),
                form("as numpy writes", random -> String.format("%.6g", random.nextGaussian())),
                form(
                        "digits and an exponent",
                        random -> digits(random, 1 + random.nextInt(22)) + "e" + (random.nextInt(700) - 360)),
                form(
                        "digits and a point",
                        random -> "-" + digits(random, random.nextInt(12)) + "."
                                + digits(random, 1 + random.nextInt(12))),
                form(
                        "whole numbers",
                        random -> (random.nextBoolean() ? "-" : "") + digits(random, 1 + random.nextInt(21))),
                form("halfway between doubles", NumberTextTest::halfway),
                form("next to halfway", random -> halfway(random) + "1"));
    }

    private static Object[] form(String name, Form texts) {
        return new Object[] {name, texts};
    }

    private static double finite(Random random) {
        double value = Double.NaN;
        while (!Double.isFinite(value)) {
            value = Double.longBitsToDouble(random.nextLong());
        }
        return value;
    }

    private static String digits(Random random, int count) {
        StringBuilder digits = new StringBuilder();
        for (int i = 0; i < count; i++) {
            digits.append((char) ('0' + random.nextInt(10)));
        }
        return digits.toString();
    }

    /** Returns the middle of two adjacent doubles, of all sizes that have few digits. */
    private static String halfway(Random random) {
        double low =
                Math.scalb(1 + random.nextInt(1 << 20) / (double) (1 << random.nextInt(20)), random.nextInt(80) - 20);
        BigDecimal middle =
                new BigDecimal(low).add(new BigDecimal(Math.nextUp(low))).divide(BigDecimal.valueOf(2));
        String text = middle.toPlainString();
        return text.contains(".") ? text : text + ".0";
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0",
                "-0",
                "0.0",
                "-0.0",
                "4.9e-324",
                "2.4703282292062327208e-324",
                "2.4703282292062328e-324",
                "2.2250738585072014e-308",
                "2.2250738585072011e-308",
                "2.225073858507201e-308",
                "1.7976931348623157e308",
                "1.7976931348623158e308",
                "1.7976931348623159e308",
                "1e309",
                "1e-400",
                "0e400",
                "9007199254740993.0",
                "9007199254740992.5",
                "9007199254740993.00000000000000001",
                "18446744073709551615.0",
                "9999999999999999999",
                "18446744073709551616",
                "1e23",
                "8.442911973260991817129021e21",
                "6.631236846766476e-316",
                "3.2378839133029012895883524125015321748630094072e-319",
                "1.",
                ".5",
                "+.5e+1",
                "00000000000000000000000000000000000000001.5",
                "0.00000000000000000000000000000000000000001",
                "7.2057594037927933e16",
                "1e99999999999",
                "1e-99999999999",
                "89255e-22",
                "104110013277974872254e-225"
            })
    void hardNumbersAreTheNearestDoubles(String text) {
        assertThat(read(" " + text + "\t")).isNotIn(NumberText.Kind.NONE, NumberText.Kind.MISSING);
        assertThat(bits()).isEqualTo(bits(text));
    }

    @ParameterizedTest
    @CsvSource({
        "9223372036854775807, INTEGER, 9223372036854775807",
        "-9223372036854775808, INTEGER, -9223372036854775808",
        "-9223372036854775809, REAL, 0",
        "9223372036854775808, UNSIGNED, -9223372036854775808",
        "18446744073709551615, UNSIGNED, -1",
        "+00000000000000000000018446744073709551615, UNSIGNED, -1",
        "18446744073709551616, REAL, 0",
        "007, INTEGER, 7",
    })
    void wholeNumbersAreIntegersIfTheyFit(String text, NumberText.Kind kind, long integer) {
        assertThat(read(text)).isEqualTo(kind);
        assertThat(kind == NumberText.Kind.REAL || number.integer() == integer).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "9007199254740993, true", "9007199254740992, false", "9007199254740993.0, false", "18446744073709551615, true",
        "9223372036854775808, false", "-9223372036854775809, true", "18446744073709551616, false", "1e23, false"
    })
    void onlyWholeNumbersThatADoubleLacksAreRounded(String text, boolean isRounded) {
        read(text);

        assertThat(number.isRounded()).isEqualTo(isRounded);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                ".", "-", "+", "e5", ".e5", "1e", "1e+", "1e5.0", "1.2.3", "--1", "+-1", "0x10", "1_000", "1d", "1f",
                "1,5", "٣", "nan1", "-nan", "in", "infinit", "1 2", "NaN NaN", "é"
            })
    void whatIsNoNumberIsNone(String text) {
        assertThat(read(text)).isEqualTo(NumberText.Kind.NONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "  ", "nan", "NaN", "NAN", "NA", "N/A", "null", "NULL", "None", " NA "})
    void wordsForMissingValuesAreMissing(String text) {
        assertThat(read(text)).isEqualTo(NumberText.Kind.MISSING);
        assertThat(number.real()).isNaN();
    }

    @Test
    void infinityHasItsSign() {
        assertThat(read("-inf")).isEqualTo(NumberText.Kind.REAL);
        assertThat(number.real()).isEqualTo(Double.NEGATIVE_INFINITY);
        assertThat(read("+Infinity")).isEqualTo(NumberText.Kind.REAL);
        assertThat(number.real()).isEqualTo(Double.POSITIVE_INFINITY);
    }

    private NumberText.Kind read(String text) {
        byte[] bytes = ("1" + text + "1").getBytes(StandardCharsets.UTF_8);
        cell.set(bytes, 1, bytes.length - 1, false);
        return number.read(cell);
    }

    private long bits() {
        return Double.doubleToRawLongBits(number.real());
    }

    private static long bits(String text) {
        return Double.doubleToRawLongBits(Double.parseDouble(text));
    }

    /** Makes texts of one form. */
    @FunctionalInterface
    interface Form {
        String next(Random random);
    }
}
