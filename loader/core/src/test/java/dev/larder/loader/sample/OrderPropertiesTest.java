package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.sample.Shard.Tail;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds of every sampler, over all rows or some, dealt out to any number of ranks. */
class OrderPropertiesTest {
    private static final long SEED = 1_121;
    private static final int ROWS = 157;

    /**
     * A sampler, and what it may visit.
     *
     * @param once whether it visits each of these rows once
     */
    record Case(Sampler sampler, Set<Long> rows, long length, boolean once) {
        @Override
        public String toString() {
            return sampler.description();
        }
    }

    static Stream<Case> samplers() {
        Random random = new Random(SEED);
        Labels labels = Labels.of(random.ints(ROWS, 0, 5).toArray());
        double[] weights = random.doubles(ROWS, 0.1, 1).toArray();
        Subset subset = Subset.split(ROWS, SEED, 0.6, 0.4).get(1);
        List<Case> cases = new ArrayList<>();
        for (Sampler sampler :
                List.of(Sampler.sequential(), Sampler.random(1), Sampler.permuted(1), Sampler.stratified(labels, 1))) {
            cases.add(new Case(sampler, rows(Subset.range(0, ROWS)), ROWS, true));
            cases.add(new Case(sampler.over(subset), rows(subset), subset.size(), true));
        }
        Sampler weighted = Sampler.weighted(weights, 300, 1);
        cases.add(new Case(weighted, rows(Subset.range(0, ROWS)), 300, false));
        cases.add(new Case(weighted.over(subset), rows(subset), 300, false));
        Sampler once = Sampler.weightedWithoutReplacement(weights, subset.size(), 1);
        cases.add(new Case(once.over(subset), rows(subset), subset.size(), true));
        return cases.stream();
    }

    static Stream<Case> shuffles() {
        return samplers().filter(each -> !each.sampler.description().startsWith("sequential"));
    }

    @ParameterizedTest
    @MethodSource("samplers")
    void everyEpochVisitsWhatItShall(Case each) {
        for (long epoch = 0; epoch < 50; epoch++) {
            long[] visited = Visits.of(each.sampler, ROWS, epoch);

            assertThat(visited).hasSize((int) each.length);
            assertThat(each.rows).containsAll(LongStream.of(visited).boxed().toList());
            if (each.once) {
                assertThat(LongStream.of(visited).distinct().count()).isEqualTo(each.length);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("samplers")
    void ranksTogetherVisitTheEpochWhateverTheirNumber(Case each) {
        for (long epoch = 0; epoch < 5; epoch++) {
            long[] visited = Visits.of(each.sampler, ROWS, epoch);
            for (int world = 1; world <= 8; world++) {
                for (Tail tail : Tail.values()) {
                    assertThat(dealt(each.sampler.order(ROWS, epoch), world, tail))
                            .as("%s world %d", tail, world)
                            .containsExactly(expected(visited, world, tail));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("samplers")
    void orderIsTheSameWhoeverAsksAndInWhateverOrder(Case each) throws Exception {
        long[] visited = Visits.of(each.sampler, ROWS, 3);
        SampleOrder order = each.sampler.order(ROWS, 3);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<long[]>> readers = IntStream.range(0, 4)
                    .mapToObj(i -> (Callable<long[]>) () -> readInAnyOrder(order, SEED + i))
                    .toList();
            for (Future<long[]> read : threads.invokeAll(readers)) {
                assertThat(read.get()).containsExactly(visited);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @ParameterizedTest
    @MethodSource("shuffles")
    void epochsDiffer(Case each) {
        Set<List<Long>> orders = new HashSet<>();
        for (long epoch = 0; epoch < 100; epoch++) {
            orders.add(
                    LongStream.of(Visits.of(each.sampler, ROWS, epoch)).boxed().toList());
        }

        assertThat(orders).hasSize(100);
    }

    private static long[] readInAnyOrder(SampleOrder order, long seed) {
        long[] read = new long[(int) order.length()];
        SampleOrder positions = Sampler.random(seed).order(read.length, 0);
        for (int i = 0; i < read.length; i++) {
            int position = (int) positions.row(i);
            read[position] = order.row(position);
        }
        return read;
    }

    /** Puts what the ranks visit back together: turn by turn, rank by rank. */
    private static long[] dealt(SampleOrder order, int world, Tail tail) {
        long units = order.length();
        LongStream.Builder rows = LongStream.builder();
        for (long turn = 0; turn < new Shard(0, world, tail).turns(units); turn++) {
            for (int rank = 0; rank < world; rank++) {
                Shard shard = new Shard(rank, world, tail);
                if (turn < shard.count(units)) {
                    rows.add(order.row(shard.unit(turn) % units));
                }
            }
        }
        return rows.build().toArray();
    }

    private static long[] expected(long[] visited, int world, Tail tail) {
        int whole = visited.length / world * world;
        return switch (tail) {
            case EXACT -> visited;
            case DROP -> Arrays.copyOf(visited, whole);
            case PAD -> {
                int padded = whole == visited.length ? whole : whole + world;
                yield IntStream.range(0, padded)
                        .mapToLong(i -> visited[i % visited.length])
                        .toArray();
            }
        };
    }

    private static Set<Long> rows(Subset subset) {
        return new HashSet<>(LongStream.of(Visits.of(subset)).boxed().toList());
    }
}
