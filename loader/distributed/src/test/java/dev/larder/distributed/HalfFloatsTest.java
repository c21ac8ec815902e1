package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HalfFloatsTest {
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
        short half = (short) Integer.parseInt(bits, 16);

        assertThat(HalfFloats.halfToFloat(half)).isEqualTo(value);
        assertThat(HalfFloats.floatToHalf(value)).isEqualTo(half);
    }

    @Test
    void everyHalfComesBackAsItWas() {
        for (int bits = 0; bits < 1 << 16; bits++) {
            short half = (short) bits;
            boolean isSignalling = (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0 && (bits & 0x200) == 0;
            if (!isSignalling) {
                assertThat(HalfFloats.floatToHalf(HalfFloats.halfToFloat(half))).isEqualTo(half);
            }
            if (!Float.isNaN(HalfFloats.bfloatToFloat(half))) {
                assertThat(HalfFloats.floatToBfloat(HalfFloats.bfloatToFloat(half)))
                        .isEqualTo(half);
            }
        }
        assertThat(HalfFloats.halfToFloat(HalfFloats.floatToHalf(Float.NaN))).isNaN();
        assertThat(HalfFloats.bfloatToFloat(HalfFloats.floatToBfloat(Float.NaN)))
                .isNaN();
    }

    @Test
    void whatLiesBetweenGoesToTheNearerAndToEvenInTheMiddle() {
        for (int bits = 0; bits < 0x7bff; bits++) {
            float low = HalfFloats.halfToFloat((short) bits);
            float high = HalfFloats.halfToFloat((short) (bits + 1));
            float middle = (low + high) / 2;
            int even = bits + (bits & 1);

            assertThat(HalfFloats.floatToHalf(middle)).isEqualTo((short) even);
            assertThat(HalfFloats.floatToHalf(Math.nextDown(middle))).isEqualTo((short) bits);
            assertThat(HalfFloats.floatToHalf(-Math.nextUp(middle))).isEqualTo((short) (bits + 1 | 0x8000));
        }
        assertThat(HalfFloats.floatToHalf(65519.996f)).isEqualTo((short) 0x7bff);
        assertThat(HalfFloats.floatToHalf(65520f)).isEqualTo((short) 0x7c00);
    }

    @Test
    void bfloatsAreTheNearestUpperHalves() {
        SplittableRandom random = new SplittableRandom(5);
        for (int i = 0; i < 100_000; i++) {
            float value = Float.intBitsToFloat(random.nextInt());
            if (Math.abs(value) < 1e38f) {
                float rounded = HalfFloats.bfloatToFloat(HalfFloats.floatToBfloat(value));
                float above = HalfFloats.bfloatToFloat((short) (HalfFloats.floatToBfloat(value) + 1));
                float below = HalfFloats.bfloatToFloat((short) (HalfFloats.floatToBfloat(value) - 1));

                double error = Math.abs((double) value - rounded);
                assertThat(error).isLessThanOrEqualTo(Math.abs((double) value - above));
                assertThat(error).isLessThanOrEqualTo(Math.abs((double) value - below));
            }
        }
    }
}
