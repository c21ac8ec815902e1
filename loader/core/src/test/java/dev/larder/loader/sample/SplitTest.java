package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SplitTest {
    private static final long SEED = 20_261_121;

    @ParameterizedTest
    @CsvSource({
        "10, 0.8 0.2, 8 2",
        "10, 0.7 0.2 0.1, 7 2 1",
        "11, 0.5 0.5, 6 5",
        "7, 0.3333333333333333 0.3333333333333333 0.3333333333333333, 3 2 2",
        "30, 0.1 0.2 0.7, 3 6 21",
        "3, 0.98 0.01 0.01, 3 0 0",
        "0, 0.5 0.5, 0 0",
        "1, 1, 1",
        "4611686018427387904, 0.5 0.25 0.25, 2305843009213693952 1152921504606846976 1152921504606846976",
    })
    void sizesAreRoundedByLargestRemainder(long rows, String fractions, String sizes) {
        List<Subset> parts = Subset.split(rows, 1, doubles(fractions));

        assertThat(parts.stream().map(Subset::size).map(String::valueOf)).containsExactly(sizes.split(" ", -1));
    }

    @Test
    void partsAreDisjointAndCoverAllRows() {
        Random random = new Random(SEED);
        for (int round = 0; round < 200; round++) {
            int rows = random.nextInt(500);
            double[] fractions = fractions(random);
            List<Subset> parts = Subset.split(rows, random.nextLong(), fractions);

            assertThat(Visits.sorted(joined(parts)))
                    .as("seed %d round %d", SEED, round)
                    .isEqualTo(Visits.range(rows));
        }
    }

    @Test
    void partsOfLabelledRowsHaveTheirShareOfEveryClass() {
        Random random = new Random(SEED);
        for (int round = 0; round < 500; round++) {
            Labels labels = labels(random, random.nextInt(400), 1 + random.nextInt(12));
            double[] fractions = fractions(random);
            List<Subset> parts = Subset.split(labels, random.nextLong(), fractions);

            assertThat(Visits.sorted(joined(parts))).isEqualTo(Visits.range(labels.rows()));
            for (int part = 0; part < parts.size(); part++) {
                requireShare(
                        labels,
                        parts.get(part),
                        fractions[part] / Arrays.stream(fractions).sum(),
                        round);
            }
        }
    }

    @Test
    void partsOfLabelledRowsAreNearlyAsLargeAsThoseOfOthers() {
        Random random = new Random(SEED);
        int unlike = 0;
        for (int round = 0; round < 2000; round++) {
            Labels labels = labels(random, random.nextInt(300), 1 + random.nextInt(12));
            double[] fractions = fractions(random);
            List<Subset> parts = Subset.split(labels, 1, fractions);
            List<Subset> unlabelled = Subset.split(labels.rows(), 1, fractions);
            for (int part = 0; part < parts.size(); part++) {
                long difference = parts.get(part).size() - unlabelled.get(part).size();
                assertThat(difference).as("seed %d round %d", SEED, round).isBetween(-1L, 1L);
                unlike += difference == 0 ? 0 : 1;
            }
        }
        assertThat(unlike).isLessThan(200);
    }

    @Test
    void seedsDivideDifferentlyAndTheSameSeedAlike() {
        long[] part = Visits.of(Subset.split(1000, 5, 0.5, 0.5).get(0));

        assertThat(Visits.of(Subset.split(1000, 5, 0.5, 0.5).get(0))).containsExactly(part);
        assertThat(Visits.of(Subset.split(1000, 6, 0.5, 0.5).get(0))).isNotEqualTo(part);
    }

    @ParameterizedTest
    @CsvSource({"0.5 0.4", "0.5 0.500001", "1 0", "1.5 -0.5", "NaN 1", "''"})
    void fractionsThatAreNoneAreRefused(String fractions) {
        assertThatThrownBy(() -> Subset.split(10, 1, doubles(fractions)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("fractions must be");
    }

    @Test
    void everyRowIsValidatedOnceAndTrainedWithOtherwise() {
        for (int rows : new int[] {2, 3, 10, 101}) {
            for (int k = 2; k <= Math.min(rows, 10); k++) {
                List<Subset.Fold> folds = Subset.kFold(rows, k, 7);

                assertThat(Visits.sorted(joined(
                                folds.stream().map(Subset.Fold::validation).toList())))
                        .isEqualTo(Visits.range(rows));
                for (Subset.Fold fold : folds) {
                    assertThat(Visits.sorted(joined(List.of(fold.training(), fold.validation()))))
                            .isEqualTo(Visits.range(rows));
                    assertThat(fold.validation().size()).isBetween((long) rows / k, (long) (rows + k - 1) / k);
                }
            }
        }
    }

    @Test
    void foldsOfLabelledRowsHaveEquallyManyOfEveryClass() {
        Random random = new Random(SEED);
        for (int round = 0; round < 200; round++) {
            Labels labels = labels(random, 10 + random.nextInt(200), 1 + random.nextInt(8));
            int k = 2 + random.nextInt(8);
            for (Subset.Fold fold : Subset.kFold(labels, k, random.nextLong())) {
                assertThat(Visits.sorted(joined(List.of(fold.training(), fold.validation()))))
                        .isEqualTo(Visits.range(labels.rows()));
                requireShare(labels, fold.validation(), 1.0 / k, round);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"10, 1", "10, 11", "0, 2", "10, -1"})
    void numberOfFoldsThatCannotBeIsRefused(long rows, int k) {
        Labels labels = Labels.of(new int[(int) rows]);

        assertThatThrownBy(() -> Subset.kFold(rows, k, 1)).hasMessageContaining("k=" + k + " rows=" + rows);
        assertThatThrownBy(() -> Subset.kFold(labels, k, 1)).hasMessageContaining("k=" + k + " rows=" + rows);
    }

    private static void requireShare(Labels labels, Subset part, double share, int round) {
        long[] counts = new long[labels.classes()];
        for (long row : Visits.of(part)) {
            counts[labels.classOf(row)]++;
        }
        for (int c = 0; c < counts.length; c++) {
            double exact = share * labels.count(c);
            assertThat((double) counts[c])
                    .as("seed %d round %d class %d", SEED, round, c)
                    .isBetween(Math.floor(exact + 1e-9), Math.ceil(exact - 1e-9));
        }
    }

    private static double[] fractions(Random random) {
        double[] parts = random.doubles(1 + random.nextInt(5), 0.01, 1)
                .map(each -> Math.rint(each * 20 + 1))
                .toArray();
        double sum = Arrays.stream(parts).sum();
        return Arrays.stream(parts).map(each -> each / sum).toArray();
    }

    private static Labels labels(Random random, int rows, int classes) {
        return Labels.of(
                random.ints(rows, 0, classes).map(each -> each * each - 3).toArray());
    }

    private static long[] joined(List<Subset> parts) {
        return parts.stream().map(Visits::of).flatMapToLong(LongStream::of).toArray();
    }

    private static double[] doubles(String text) {
        return text.isEmpty()
                ? new double[0]
                : Arrays.stream(text.split(" ", -1))
                        .mapToDouble(Double::parseDouble)
                        .toArray();
    }
}
