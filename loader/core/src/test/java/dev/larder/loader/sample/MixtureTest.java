package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.loader.internal.sample.Interleaving;
import dev.larder.loader.sample.Mixture.Exhausted;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Mixtures against what counting their positions one by one gives. */
class MixtureTest {
    private final long seed = Long.getLong("larder.seed", System.nanoTime());

    @Test
    void countsAreThoseOfThePositionsOneByOneAndSharesHoldAtEachPlace() {
        System.err.println("seed=" + seed);
        for (int round = 0; round < 200; round++) {
            Random random = new Random(seed + round);
            int sources = 1 + random.nextInt(12);
            double[] weights = random.doubles(sources, 0.001, 1).toArray();
            double sum = Arrays.stream(weights).sum();
            Interleaving places = new Interleaving(weights, random.nextLong(), random.nextInt(5));
            long[] counts = new long[sources];
            for (long position = 0; position < 900; position++) {
                long found = places.find(position);
                int source = Interleaving.source(found);
                assertThat(Interleaving.countBefore(found)).isEqualTo(counts[source]);
                assertThat(places.countBefore(position, source))
                        .as("case %d of seed %d position %d", round, seed, position)
                        .isEqualTo(counts[source]);
                counts[source]++;
                if (counts[source] % 37 == 1) {
                    assertThat(places.positionsFor(counts[source], source)).isEqualTo(position + 1);
                }
            }
            for (int i = 0; i < sources; i++) {
                assertThat((double) counts[i]).isBetween(900 * weights[i] / sum - 64, 900 * weights[i] / sum + 64);
            }
        }
    }

    @Test
    void anEpochEndsWithTheFirstSourceThatHasNothingLeft() {
        Sampler sampler = Mixture.weights(1, 1, 2).sampler(Sampler.random(3), 9, 50, 400, 300);

        SampleOrder order = sampler.order(750, 2);

        List<Long> rows = rows(order);
        assertThat(rows).doesNotHaveDuplicates();
        assertThat(count(rows, 0, 50)).isEqualTo(50);
        assertThat(count(rows, 50, 450)).isBetween(45L, 60L);
        assertThat(count(rows, 450, 750)).isBetween(90L, 115L);
        assertThat(rows.stream().filter(row -> row < 50).toList())
                .isEqualTo(rows(Sampler.random(3).order(50, 2))); // each in its own order
    }

    @Test
    void sourcesBeginAgainUntilAllWereVisitedEachTimeInAnotherOrder() {
        Sampler sampler = Mixture.weights(1, 1).exhausted(Exhausted.REPEAT).sampler(Sampler.permuted(3), 9, 10, 100);

        List<Long> rows = rows(sampler.order(110, 1));

        assertThat(rows.size()).isBetween(190, 210);
        assertThat(rows.stream().filter(row -> row >= 10).toList())
                .doesNotHaveDuplicates()
                .hasSize(100);
        List<Long> small = rows.stream().filter(row -> row < 10).toList();
        List<List<Long>> passes = new ArrayList<>();
        for (int i = 0; i + 10 <= small.size(); i += 10) {
            passes.add(small.subList(i, i + 10));
            assertThat(passes.get(i / 10))
                    .containsExactlyInAnyOrderElementsOf(
                            LongStream.range(0, 10).boxed().toList());
        }
        assertThat(new HashSet<>(passes)).hasSizeGreaterThan(7);
        assertThat(rows(sampler.order(110, 2)).stream()
                        .filter(row -> row < 10)
                        .limit(10)
                        .toList())
                .isNotEqualTo(passes.get(0));
    }

    @Test
    void anEpochMayHaveSoManySamples() {
        SampleOrder order = Mixture.weights(3, 1)
                .samples(1_000)
                .sampler(Sampler.sequential(), 0, 7, 5)
                .order(12, 0);

        assertThat(order.length()).isEqualTo(1_000);
        assertThat(count(rows(order), 0, 7)).isBetween(740L, 760L);
    }

    @Test
    void sourcesDropOutUntilEveryRowWasVisitedOnce() {
        for (int round = 0; round < 50; round++) {
            Random random = new Random(seed + round);
            long[] sizes = random.longs(1 + random.nextInt(5), 1, 300).toArray();
            double[] weights = random.doubles(sizes.length, 0.01, 1).toArray();
            long all = LongStream.of(sizes).sum();
            Sampler sampler =
                    Mixture.weights(weights).exhausted(Exhausted.UNTIL_ALL).sampler(Sampler.permuted(1), round, sizes);

            assertThat(Visits.sorted(Visits.of(sampler, all, round)))
                    .as("case %d of seed %d", round, seed)
                    .isEqualTo(Visits.range(all));
        }
    }

    @Test
    void placesCountWhatWasVisited() {
        for (Exhausted policy : Exhausted.values()) {
            Mixture mixture = Mixture.weights(5, 2, 1).exhausted(policy);
            long[] sizes = {40, 90, 30};
            SampleOrder order = mixture.sampler(Sampler.permuted(1), 4, sizes).order(160, 3);
            long[] counts = new long[3];
            for (long position = 0; position <= order.length(); position++) {
                assertThat(mixture.placesAfter(
                                Sampler.permuted(1), 4, sizes, new String[] {"a", "b", "c"}, 3, position))
                        .as("%s %d", policy, position)
                        .isEqualTo("a=" + counts[0] + " b=" + counts[1] + " c=" + counts[2]);
                if (position < order.length()) {
                    long row = order.row(position);
                    counts[row < 40 ? 0 : row < 130 ? 1 : 2]++;
                }
            }
        }
    }

    @Test
    void temperatureRaisesTheShareOfSmallSources() {
        long[] sizes = {100, 10_000};
        long bySize = count(
                rows(Mixture.bySize()
                        .samples(2_020)
                        .sampler(Sampler.permuted(1), 0, sizes)
                        .order(10_100, 0)),
                0,
                100);
        long byRoot = count(
                rows(Mixture.bySize()
                        .temperature(2)
                        .samples(2_020)
                        .sampler(Sampler.permuted(1), 0, sizes)
                        .order(10_100, 0)),
                0,
                100);

        assertThat(bySize).isBetween(15L, 25L); // 1 of 101
        assertThat(byRoot).isBetween(175L, 192L); // 1 of 11
    }

    @Test
    void whatCannotBeMixedIsRefused() {
        assertThatThrownBy(() -> Mixture.weights(1, 0)).hasMessageContaining("weights=[1.0, 0.0]");
        assertThatThrownBy(() -> Mixture.weights()).hasMessageContaining("needs weights");
        assertThatThrownBy(() -> Mixture.bySize().temperature(0)).hasMessageContaining("temperature=0.0");
        assertThatThrownBy(() -> Mixture.weights(1, 2).sampler(Sampler.sequential(), 0, 5))
                .hasMessageContaining("weights=2 sources=1");
        assertThatThrownBy(() -> Mixture.weights(1, 2).sampler(Sampler.sequential(), 0, 5, 0))
                .hasMessageContaining("source=1 rows=0");
        assertThatThrownBy(() -> Mixture.weights(1, 2)
                        .sampler(Sampler.sequential(), 0, 5, 6)
                        .order(12, 0))
                .hasMessageContaining("rows=12 ofSources=11");
        assertThatThrownBy(() -> Mixture.bySize()
                        .sampler(Sampler.sequential().over(Subset.range(0, 3)), 0, 5, 6)
                        .order(11, 0))
                .hasMessageContaining("source=0 rows=5 visited=3");
    }

    private static List<Long> rows(SampleOrder order) {
        return LongStream.range(0, order.length()).map(order::row).boxed().toList();
    }

    private static long count(List<Long> rows, long from, long to) {
        return rows.stream().filter(row -> row >= from && row < to).count();
    }

    @Test
    void orderIsAFunctionOfSeedAndEpochAskedForInWhateverOrder() {
        Sampler sampler = Mixture.weights(2, 1).exhausted(Exhausted.REPEAT).sampler(Sampler.random(3), 9, 13, 100);
        SampleOrder once = sampler.order(113, 5);
        List<Long> forwards = rows(once);
        SampleOrder again = sampler.order(113, 5);

        List<Long> backwards = IntStream.range(0, forwards.size())
                .mapToObj(i -> again.row(forwards.size() - 1L - i))
                .toList();

        for (int i = 0; i < forwards.size(); i++) {
            assertThat(backwards.get(forwards.size() - 1 - i)).isEqualTo(forwards.get(i));
        }
        assertThat(rows(sampler.order(113, 6))).isNotEqualTo(forwards);
    }
}
