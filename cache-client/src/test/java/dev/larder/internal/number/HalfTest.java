package dev.larder.internal.number;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HalfTest {
    @ParameterizedTest
    @CsvSource({
        "0000, 0",
        "8000, -0.0",
        "3c00, 1",
        "c000, -2",
        "7bff, 65504",
        "0001, 5.9604644775390625e-8",
        "03ff, 6.0975551605224609375e-5",
        "0400, 6.103515625e-5",
        "7c00, Infinity",
        "fc00, -Infinity",
        "3555, 0.333251953125"
    })
    void halvesAreWhatTheStandardSays(String bits, float value) {
        int half = Integer.parseInt(bits, 16);

        assertThat(Half.toFloat(half)).isEqualTo(value);
        assertThat(Half.toFloat((short) half)).isEqualTo(value);
        assertThat(Half.ofFloat(value)).isEqualTo(half);
    }

    @Test
    void everyHalfIsItsFractionTimesAPowerOfTwo() {
        for (int bits = 0; bits < 1 << 16; bits++) {
            int exponent = (bits >>> 10) & 0x1f;
            int fraction = bits & 0x3ff;
            double magnitude = exponent == 0x1f
                    ? fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN
                    : exponent == 0 ? Math.scalb((double) fraction, -24) : Math.scalb(fraction + 1024.0, exponent - 25);

            assertThat((double) Half.toFloat(bits))
                    .isEqualTo(Double.valueOf(bits < 0x8000 ? magnitude : -magnitude)); // NaN too
        }
    }

    @Test
    void aNanWhoseBitsDoNotFitIsStillOne() {
        assertThat(Half.ofFloat(Float.intBitsToFloat(0x7f80_0001))).isEqualTo(0x7c01);
        assertThat(Half.ofFloat(Float.intBitsToFloat(0xff80_0001))).isEqualTo(0xfc01);
        assertThat(Half.ofFloat(Float.NaN)).isEqualTo(0x7e00);
    }

    @Test
    void floatsAreRoundedAsDoublesAre() {
        SplittableRandom random = new SplittableRandom(11);
        for (int i = 0; i < 1_000_000; i++) {
            float value = Float.intBitsToFloat(random.nextInt());
            if (!Float.isNaN(value)) {
                assertThat(Half.ofFloat(value)).isEqualTo(Half.ofDouble(value));
            }
        }
    }

    @Test
    void everyHalfComesBackFromAFloatAndADouble() {
        for (int bits = 0; bits < 1 << 16; bits++) {
            float value = Half.toFloat(bits);

            assertThat(Half.ofFloat(value)).isEqualTo(bits);
            if (!Float.isNaN(value)) {
                assertThat(Half.ofDouble(value)).isEqualTo(bits);
            }
        }
    }

    @Test
    void whatLiesHalfWayGoesToTheEvenNeighbour() {
        for (int bits = 0; bits < 0x7bff; bits++) {
            double middle = ((double) Half.toFloat(bits) + Half.toFloat(bits + 1)) / 2;

            assertThat(Half.ofDouble(middle)).isEqualTo(bits + (bits & 1));
            assertThat(Half.ofFloat((float) middle)).isEqualTo(bits + (bits & 1));
            assertThat(Half.ofDouble(Math.nextUp(middle))).isEqualTo(bits + 1);
            assertThat(Half.ofDouble(Math.nextDown(middle))).isEqualTo(bits);
            assertThat(Half.ofDouble(-middle)).isEqualTo(0x8000 | (bits + (bits & 1)));
        }
    }

    @ParameterizedTest
    @CsvSource({"65519.996, 7bff", "65520, 7c00", "1e30, 7c00", "-Infinity, fc00", "-0.0, 8000", "1e-30, 0"})
    void edgesAreThoseOfTheFormat(double value, String bits) {
        assertThat(Half.ofDouble(value)).isEqualTo(Integer.parseInt(bits, 16));
        assertThat(Half.ofFloat((float) value)).isEqualTo(Integer.parseInt(bits, 16));
    }
}
