package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.sample.BatchOrder;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Buckets;
import dev.larder.loader.sample.Labels;
import dev.larder.loader.sample.Lengths;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.loader.sample.Shard.Tail;
import dev.larder.loader.sample.TokenBudget;
import dev.larder.testing.Rounds;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Stops an epoch anywhere, resumes it with any number of ranks, stops and resumes it again, and compares what counts of the batches
 * ({@link Batch#validSize}) and the last receipt with a model: the global order of the epoch, each sample once. Repeat a failure with
 * {@code -Dlarder.seed=N}.
 */
class ResumePropertiesTest {
    private static final int ROWS = 61;
    private static final int CASES = 400; // of each kind
    private static final int MAX_WORLD = 8;

    @RegisterExtension
    static final Shelf shelf = Shelf.ofSamples(ROWS, 4);

    private final Rounds rounds = Rounds.of("resumed epochs", CASES);
    private final long seed = rounds.seed();

    /** One rank of several, by what its loader is. */
    private interface Ranks {
        LoaderBuilder builder(Shard shard);
    }

    @Test
    void samplesThatCountAreTheGlobalOrderOnceHoweverOftenAnEpochIsResumed() {
        for (int round = 0; round < rounds.count(); round++) {
            Random random = new Random(seed + round);
            Sampler sampler = sampler(random);
            Tail tail = tail(random);
            boolean dropLast = tail != Tail.EXACT && random.nextBoolean();
            int batch = 1 + random.nextInt(9);
            int world = 1 + random.nextInt(MAX_WORLD);
            long epoch = random.nextInt(4);
            Ranks ranks = shard -> Loader.over(shelf.dataset)
                    .sampler(sampler)
                    .shard(shard)
                    .batchSize(batch)
                    .dropLast(dropLast && shard.tail() != Tail.EXACT);

            SampleOrder order = sampler.order(ROWS, epoch);
            long own = new Shard(0, world, tail).count(order.length());
            long visited = tail == Tail.EXACT ? order.length() : (dropLast ? own - own % batch : own) * world;
            List<Long> model = rows(order::row, Math.min(visited, order.length()));
            requireOnce(new Run(ranks, tail, epoch, true), world, random, model, "samples, case " + (seed + round));
        }
    }

    @Tag("slow")
    @Test
    void wholeBatchesThatCountAreTheGlobalOrderOnceHoweverOftenAnEpochIsResumed() {
        for (int round = 0; round < rounds.count(); round++) {
            Random random = new Random(seed + round);
            BatchSampler sampler = batchSampler(random);
            Tail tail = tail(random);
            int world = 1 + random.nextInt(MAX_WORLD);
            long epoch = random.nextInt(4);
            Ranks ranks = shard -> Loader.over(shelf.dataset).batches(sampler).shard(shard);

            BatchOrder order = sampler.order(ROWS, epoch);
            long visited = tail == Tail.DROP ? order.batches() / world * world : order.batches();
            List<Long> model = rows(order::row, order.first(visited));
            requireOnce(new Run(ranks, tail, epoch, false), world, random, model, "batches, case " + (seed + round));
        }
    }

    private static List<Long> rows(java.util.function.LongUnaryOperator row, long count) {
        return LongStream.range(0, count).map(row).boxed().toList();
    }

    private static void requireOnce(Run run, int world, Random random, List<Long> model, String which) {
        List<Long> counted = new ArrayList<>();
        LoaderState state = run.read(null, world, random.nextInt(6), counted);
        while (state != null && !state.isEpochDone()) {
            boolean toTheEnd = random.nextInt(3) == 0;
            state = run.read(state, 1 + random.nextInt(MAX_WORLD), toTheEnd ? 1000 : random.nextInt(4), counted);
        }
        if (state == null) { // stopped before its first batch
            counted.clear();
            state = run.read(null, world, 1000, counted);
        }
        assertThat(counted).as(which).isEqualTo(model);
        assertThat(state == null ? "" : state.receipt())
                .as(which)
                .isEqualTo(model.isEmpty() ? "" : shelf.receipt(model));
    }

    /** Reads an epoch with all ranks in step. */
    private record Run(Ranks ranks, Tail tail, long epoch, boolean inTurn) {
        /** Reads some steps from a state on, or from the start, and adds what counts in the global order; returns the state then. */
        @Nullable
        LoaderState read(@Nullable LoaderState from, int world, int steps, List<Long> counted) {
            List<Loader> loaders = IntStream.range(0, world)
                    .mapToObj(rank -> ranks.builder(new Shard(rank, world, tail))
                            .threads(0)
                            .prefetch(1)
                            .build())
                    .toList();
            List<Epoch> epochs = loaders.stream()
                    .map(loader -> from == null ? loader.epoch(epoch) : loader.resume(from))
                    .toList();
            List<Iterator<Batch>> iterators =
                    epochs.stream().map(Epoch::iterator).toList();
            LoaderState state = from;
            for (int step = 0; step < Math.min(steps, epochs.get(0).batches()); step++) {
                List<Batch> batches = iterators.stream().map(Iterator::next).toList();
                addCounted(batches, counted);
                state = batches.get(world - 1).stateAfter();
            }
            loaders.forEach(Loader::close);
            return state;
        }

        private void addCounted(List<Batch> batches, List<Long> counted) {
            int longest = batches.stream().mapToInt(Batch::validSize).max().orElse(0);
            if (inTurn) {
                for (int i = 0; i < longest; i++) {
                    for (Batch batch : batches) {
                        if (i < batch.validSize()) {
                            counted.add(batch.row(i));
                        }
                    }
                }
            } else {
                batches.forEach(batch -> IntStream.range(0, batch.validSize()).forEach(i -> counted.add(batch.row(i))));
            }
        }
    }

    private static Tail tail(Random random) {
        return List.of(Tail.values()).get(random.nextInt(3));
    }

    private static Sampler sampler(Random random) {
        double[] weights = random.doubles(ROWS, 0.1, 3).toArray();
        return switch (random.nextInt(6)) {
            case 0 -> Sampler.sequential();
            case 1 -> Sampler.random(random.nextInt());
            case 2 -> Sampler.permuted(random.nextLong());
            case 3 -> Sampler.weighted(weights, 1 + random.nextInt(90), random.nextInt());
            case 4 -> Sampler.weightedWithoutReplacement(weights, 1 + random.nextInt(ROWS), random.nextInt());
            default -> Sampler.stratified(Labels.of(random.ints(ROWS, 0, 3).toArray()), random.nextInt());
        };
    }

    private static BatchSampler batchSampler(Random random) {
        Lengths lengths = Lengths.of(random.longs(ROWS, 1, 300).toArray());
        boolean drops = random.nextBoolean();
        return switch (random.nextInt(3)) {
            case 0 ->
                Buckets.of(lengths)
                        .bounds(100, 220)
                        .batchSizes(9, 5, 3)
                        .shuffle(random.nextInt())
                        .dropLast(drops);
            case 1 -> TokenBudget.of(lengths).maxTokens(900).shuffle(random.nextInt());
            default -> BatchSampler.of(sampler(random), 1 + random.nextInt(9), drops);
        };
    }
}
