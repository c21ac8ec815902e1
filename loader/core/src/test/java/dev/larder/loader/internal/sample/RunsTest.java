package dev.larder.loader.internal.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RunsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "'';''",
                "7;7",
                "1,2;1,2",
                "1,2,3;1-3",
                "3,4,5,6,7,8,9,12,20,24,28,32;3-9,12,20-32/4",
                "0,5,10,11,12,13;0-10/5,11-13",
                "99999999,100000000,100000001;99999999-100000001"
            })
    void numbersThatFollowEachOtherAreRuns(String numbers, String text) {
        long[] listed = numbers.isEmpty()
                ? new long[0]
                : java.util.Arrays.stream(numbers.split(","))
                        .mapToLong(Long::parseLong)
                        .toArray();

        assertThat(Runs.toText(listed)).isEqualTo(text);
        assertThat(Runs.parse(text)).containsExactly(listed);
    }

    @Test
    void whatIsWrittenIsRead() {
        Random random = new Random(20261123);
        for (int round = 0; round < 500; round++) {
            long[] numbers = random.longs(random.nextInt(40), 0, 1 + random.nextInt(90))
                    .distinct()
                    .sorted()
                    .toArray();

            assertThat(Runs.parse(Runs.toText(numbers))).as("round %d", round).containsExactly(numbers);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a", "1,", "-3", "5-3", "1-9/0", "0-999999999999", "1-3/", "1;2", "0-16777216", "1,5-16777220"})
    void whatWasNotWrittenHereIsRefused(String text) {
        assertThatThrownBy(() -> Runs.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
