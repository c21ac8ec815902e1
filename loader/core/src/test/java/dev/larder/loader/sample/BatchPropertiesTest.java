package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.sample.Shard.Tail;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds of every way to make batches, dealt out to any number of ranks. */
@Tag("races")
class BatchPropertiesTest {
    private static final long SEED = 2_211;
    private static final int ROWS = 1009;
    private static final int EPOCHS = 200;

    record Case(BatchSampler sampler, long samples) {
        @Override
        public String toString() {
            return sampler.description();
        }
    }

    static Stream<Case> samplers() {
        Lengths lengths = Lengths.of(new Random(SEED).ints(ROWS, 1, 400).toArray());
        Subset subset = Subset.split(ROWS, SEED, 0.3, 0.7).get(0);
        Buckets buckets = Buckets.of(lengths).bounds(100, 220).batchSizes(32, 24, 16);
        TokenBudget budget = TokenBudget.of(lengths).maxTokens(3000);
        List<Case> cases = new ArrayList<>();
        for (BatchSampler sampler : List.of(
                buckets.shuffle(1),
                buckets,
                budget.shuffle(1),
                budget,
                BatchSampler.of(Sampler.random(1), 32, false),
                BatchSampler.of(Sampler.permuted(1), 1, false))) {
            cases.add(new Case(sampler, ROWS));
            cases.add(new Case(sampler.over(subset), subset.size()));
        }
        cases.add(new Case(BatchSampler.of(Sampler.sequential(), 32, true), ROWS / 32 * 32));
        return cases.stream();
    }

    @ParameterizedTest
    @MethodSource("samplers")
    void batchesOfAnEpochHaveEverySampleOnce(Case each) {
        for (long epoch = 0; epoch < 20; epoch++) {
            long[][] batches = Visits.of(each.sampler.order(ROWS, epoch));

            assertThat(LongStream.of(Visits.flat(batches)).distinct().count())
                    .isEqualTo(each.samples)
                    .isEqualTo(Arrays.stream(batches)
                            .mapToLong(batch -> batch.length)
                            .sum());
            for (long[] batch : batches) {
                assertThat(batch).isNotEmpty();
            }
        }
    }

    /** By construction: whole batches of one plan are dealt out. */
    @ParameterizedTest
    @MethodSource("samplers")
    void everyRankTakesEquallyManyStepsInEveryEpoch(Case each) {
        for (long epoch = 0; epoch < EPOCHS; epoch++) {
            long batches = each.sampler.order(ROWS, epoch).batches();
            for (int world = 1; world <= 8; world++) {
                for (Tail tail : new Tail[] {Tail.PAD, Tail.DROP}) {
                    long steps = new Shard(0, world, tail).turns(batches);
                    for (int rank = 0; rank < world; rank++) {
                        assertThat(new Shard(rank, world, tail).count(batches)).isEqualTo(steps);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("samplers")
    void exactRanksTogetherTakeEveryBatchOnce(Case each) {
        for (long epoch = 0; epoch < EPOCHS; epoch++) {
            long batches = each.sampler.order(ROWS, epoch).batches();
            for (int world = 1; world <= 8; world++) {
                assertThat(Visits.sorted(taken(batches, world, Tail.EXACT))).containsExactly(Visits.range(batches));
                assertThat(LongStream.of(taken(batches, world, Tail.PAD))
                                .distinct()
                                .count())
                        .isEqualTo(batches);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("samplers")
    void batchesAreTheSameWhoeverAsksAndInWhateverOrder(Case each) throws Exception {
        long[] visited = Visits.flat(Visits.of(each.sampler.order(ROWS, 3)));
        BatchOrder order = each.sampler.order(ROWS, 3);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<long[]>> readers = IntStream.range(0, 4)
                    .mapToObj(i -> (Callable<long[]>) () -> readInAnyOrder(order, visited.length, SEED + i))
                    .toList();
            for (Future<long[]> read : threads.invokeAll(readers)) {
                assertThat(read.get()).containsExactly(visited);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static long[] readInAnyOrder(BatchOrder order, int samples, long seed) {
        long[] read = new long[samples];
        SampleOrder positions = Sampler.random(seed).order(samples, 0);
        for (int i = 0; i < samples; i++) {
            int position = (int) positions.row(i);
            read[position] = order.row(position);
        }
        return read;
    }

    private static long[] taken(long batches, int world, Tail tail) {
        return IntStream.range(0, world)
                .mapToObj(rank -> new Shard(rank, world, tail))
                .flatMapToLong(shard -> LongStream.of(Shards.units(shard, batches)))
                .toArray();
    }
}
