package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StratifiedSamplerTest {
    private static final long SEED = 5;

    @Test
    void everyRowIsVisitedOnce() {
        Random random = new Random(SEED);
        for (int rows = 0; rows < 120; rows++) {
            Labels labels = Labels.of(random.ints(rows, -3, 4).toArray());

            assertThat(Visits.sorted(Visits.of(Sampler.stratified(labels, rows), rows, 2)))
                    .containsExactly(Visits.range(rows));
        }
    }

    @Test
    void everyPrefixHasNearlyTheProportionsOfTheWhole() {
        Random random = new Random(SEED);
        for (int round = 0; round < 100; round++) {
            int classes = 1 + random.nextInt(20);
            Labels labels = Labels.of(random.ints(1 + random.nextInt(1000), 0, classes)
                    .map(each -> each * each / classes)
                    .toArray());
            long[] visited = Visits.of(Sampler.stratified(labels, random.nextLong()), labels.rows(), round);

            assertThat(worst(labels, visited))
                    .as("seed %d round %d", SEED, round)
                    .isNotPositive();
        }
    }

    @Test
    void ofTwoClassesEveryPrefixIsRightToWithinOneSample() {
        Labels labels = Labels.of(
                new Random(SEED).ints(999, 0, 10).map(each -> each / 9).toArray());
        long[] visited = Visits.of(Sampler.stratified(labels, 3), 999, 1);

        double share = labels.count(1) / 999.0;
        long seen = 0;
        for (int length = 1; length <= 999; length++) {
            seen += labels.classOf(visited[length - 1]);
            assertThat(seen - share * length).isBetween(-1.0, 1.0);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5, 10})
    void everyRankSeesEveryClassAboutAsOften(int world) {
        Labels labels = Labels.of(new Random(SEED).ints(60_000, 0, 10).toArray());
        SampleOrder order = Sampler.stratified(labels, 1).order(60_000, 0);
        for (int rank = 0; rank < world; rank++) {
            long[] counts = new long[10];
            for (long unit : Shards.units(Shard.of(rank, world), 60_000)) {
                counts[labels.classOf(order.row(unit))]++;
            }
            assertThat(Uniformity.chiSquare(counts)).isLessThan(Uniformity.limit(9));
        }
    }

    @Test
    void rowsOfOneClassComeInAnyOrder() {
        Labels labels = Labels.of(0, 0, 0, 0, 1, 1, 1, 1);
        long[] firstOfClass = new long[4];
        for (int epoch = 0; epoch < 10_000; epoch++) {
            SampleOrder order = Sampler.stratified(labels, 1).order(8, epoch);
            long row = order.row(0);
            firstOfClass[(int) row % 4]++;
        }

        assertThat(Uniformity.chiSquare(firstOfClass)).isLessThan(Uniformity.limit(3));
    }

    @Test
    void classesOfASubsetAreInTheProportionsOfTheSubset() {
        Labels labels = Labels.of(new Random(SEED).ints(1000, 0, 4).toArray());
        Subset subset = Subset.split(1000, 3, 0.4, 0.6).get(0);

        long[] visited = Visits.of(Sampler.stratified(labels, 2).over(subset), 1000, 1);

        assertThat(Visits.sorted(visited)).containsExactly(Visits.sorted(Visits.of(subset)));
        Labels ofVisited = labels.over(Subset.of(visited));
        assertThat(worst(ofVisited, Visits.range(400))).isNotPositive();
    }

    @Test
    void labelsOfAnotherDatasetAreRefused() {
        assertThatThrownBy(() -> Sampler.stratified(Labels.of(1, 2, 3), 1).order(4, 0))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("labels=3 rows=4");
    }

    /** Returns by how much any class of any prefix is beyond what is promised. */
    private static double worst(Labels labels, long[] visited) {
        double worst = -1;
        long[] seen = new long[labels.classes()];
        for (int length = 1; length <= visited.length; length++) {
            seen[labels.classOf(visited[length - 1])]++;
            for (int c = 0; c < seen.length; c++) {
                double share = (double) labels.count(c) / visited.length;
                double promised = seen.length == 1 ? 0 : 1 + share * (seen.length - 2);
                worst = Math.max(worst, Math.abs(seen[c] - share * length) - promised - 1e-9);
            }
        }
        return worst;
    }
}
