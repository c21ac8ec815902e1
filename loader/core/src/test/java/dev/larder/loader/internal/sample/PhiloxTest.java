package dev.larder.loader.internal.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.loader.sample.Uniformity;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PhiloxTest {
    /** The answers that the authors publish with their library: four words of counter, two of key, four of result. */
    @ParameterizedTest
    @CsvSource({
        "00000000 00000000 00000000 00000000, 00000000 00000000, 6627e8d5 e169c58d bc57ac4c 9b00dbd8",
        "ffffffff ffffffff ffffffff ffffffff, ffffffff ffffffff, 408f276d 41c83b0e a20bc7c6 6d5451fd",
        "243f6a88 85a308d3 13198a2e 03707344, a4093822 299f31d0, d16cfe09 94fdcceb 5001e420 24126ea1",
    })
    void answersAreThePublishedOnes(String counter, String key, String expected) {
        long first = Philox.block(pair(counter, 0), pair(counter, 2), pair(key, 0), false);
        long last = Philox.block(pair(counter, 0), pair(counter, 2), pair(key, 0), true);

        assertThat(first).isEqualTo(pair(expected, 0));
        assertThat(last).isEqualTo(pair(expected, 2));
    }

    @Test
    void seedIsTheKeyAndTheRestIsTheCounter() {
        long seed = 0x299f_31d0_a409_3822L;
        long position = 0x85a3_08d3_243f_6a88L;

        assertThat(Philox.bits(seed, 0x0370_7344, position, 2 * 0x1319_8a2e)).isEqualTo(0x94fd_cceb_d16c_fe09L);
        assertThat(Philox.bits(seed, 0x0370_7344, position, 2 * 0x1319_8a2e + 1))
                .isEqualTo(0x2412_6ea1_5001_e420L);
    }

    /** The hashes are those that FNV's authors publish, and that Python computes for bytes above 127. */
    @ParameterizedTest
    @CsvSource({"'', cbf29ce484222325", "a, af63dc4c8601ec8c", "foobar, 85944171f73967e8", "é, ac21707b7181e01"})
    void aUserHasASeedOfItsOwnByItsName(String user, String hash) {
        assertThat(Philox.seedFor(42, user)).isEqualTo(Philox.bits(42, 0, Long.parseUnsignedLong(hash, 16), -22));
    }

    @Test
    void everyPartOfWhereADrawIsMadeChangesIt() {
        long[] values = {0, 1, 2, 3, -1, 1L << 31, 1L << 32, 1L << 63};
        Set<Long> bits = new HashSet<>();
        int asked = 0;
        for (long seed : values) {
            for (long epoch : values) {
                for (long position : values) {
                    for (int draw : new int[] {0, 1, 2, Integer.MAX_VALUE, Integer.MIN_VALUE, -1}) {
                        bits.add(Philox.bits(seed, epoch, position, draw));
                        asked++;
                    }
                }
            }
        }

        assertThat(bits).hasSize(asked);
    }

    @Test
    void unitNumbersAreEvenlySpreadBetweenZeroAndOne() {
        long[] counts = new long[64];
        for (int position = 0; position < 1 << 16; position++) {
            long bits = Philox.bits(1, 2, position, 3);
            counts[(int) (Philox.unitDouble(bits) * 64)]++;
            assertThat(Philox.unitFloat(bits)).isBetween(0f, Math.nextDown(1f));
        }

        assertThat(Uniformity.chiSquare(counts)).isLessThan(Uniformity.limit(63));
        assertThat(Philox.unitDouble(-1)).isEqualTo(Math.nextDown(1.0));
        assertThat(Philox.unitFloat(-1)).isEqualTo(1 - 0x1.0p-24f);
    }

    @Test
    void boundedNumbersAreEvenlySpread() {
        long[] counts = new long[10];
        for (int position = 0; position < 100_000; position++) {
            counts[Philox.below(Philox.bits(7, 0, position, 0), 10)]++;
        }

        assertThat(Uniformity.chiSquare(counts)).isLessThan(Uniformity.limit(9));
    }

    @Test
    void boundedNumbersReachBothEndsOfTheirRange() {
        for (long bound : new long[] {1, 2, 3, 1L << 32, Long.MAX_VALUE}) {
            assertThat(Philox.below(0, bound)).isZero();
            assertThat(Philox.below(-1, bound)).isEqualTo(bound - 1);
        }
        assertThat(Philox.below(1L << 63, 1L << 40)).isEqualTo(1L << 39);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void boundBelowOneIsRefused(int bound) {
        assertThatThrownBy(() -> Philox.below(5L, bound)).isInstanceOf(IllegalArgumentException.class);
    }

    private static long pair(String words, int first) {
        String[] parts = words.split(" ", -1);
        return Long.parseUnsignedLong(parts[first + 1] + parts[first], 16);
    }
}
