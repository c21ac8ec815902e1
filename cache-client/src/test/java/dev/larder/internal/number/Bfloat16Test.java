package dev.larder.internal.number;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Bfloat16Test {
    @Test
    void everyNumberComesBackFromAFloat() {
        for (int bits = 0; bits < 1 << 16; bits++) {
            float value = Bfloat16.toFloat(bits);

            assertThat(Bfloat16.ofFloat(value)).isEqualTo(Float.isNaN(value) ? bits | 0x40 : bits);
        }
    }

    @Test
    void whatLiesHalfWayGoesToTheEvenNeighbour() {
        for (int bits = 0; bits < 0x7f80; bits++) {
            float middle = Float.intBitsToFloat((bits << 16) + 0x8000);

            assertThat(Bfloat16.ofFloat(middle)).isEqualTo(bits + (bits & 1));
            assertThat(Bfloat16.ofFloat(Math.nextUp(middle))).isEqualTo(bits + 1);
            assertThat(Bfloat16.ofFloat(Math.nextDown(middle))).isEqualTo(bits);
            assertThat(Bfloat16.ofFloat(-middle)).isEqualTo(0x8000 | (bits + (bits & 1)));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "7f800001, 7fc0",
        "ff80ffff, ffc0",
        "7fffffff, 7fff",
        "7f800000, 7f80",
        "7f7fffff, 7f80",
        "80000001, 8000"
    })
    void nanStaysNanAndWhatIsTooLargeBecomesInfinite(String bits, String expected) {
        float value = Float.intBitsToFloat(Integer.parseUnsignedInt(bits, 16));

        assertThat(Bfloat16.ofFloat(value)).isEqualTo(Integer.parseInt(expected, 16));
    }
}
