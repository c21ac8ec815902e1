package dev.larder.loader.transform;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HalfTest {
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
