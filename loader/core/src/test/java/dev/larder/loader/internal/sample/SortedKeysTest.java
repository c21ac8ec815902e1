package dev.larder.loader.internal.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SortedKeysTest {
    @Test
    void placesComeInTheOrderOfTheirKeysAndEqualOnesAsTheyLie() {
        long seed = 9;
        Random random = new Random(seed);
        for (int count = 0; count < 300; count++) {
            double[] keys =
                    random.doubles(count).map(key -> Math.floor(key * 40)).toArray();
            Integer[] expected = IntStream.range(0, count)
                    .boxed()
                    .sorted(Comparator.comparingDouble(place -> keys[place]))
                    .toArray(Integer[]::new);

            assertThat(SortedKeys.places(keys))
                    .as("seed %d count %d", seed, count)
                    .containsExactly(expected);
        }
    }

    @Test
    void infiniteKeysComeLateAndNotANumberLast() {
        double[] keys = {Double.NaN, Double.POSITIVE_INFINITY, 3, 0, Double.NaN, 1e300};

        assertThat(SortedKeys.places(keys)).containsExactly(3, 2, 5, 1, 0, 4);
    }
}
