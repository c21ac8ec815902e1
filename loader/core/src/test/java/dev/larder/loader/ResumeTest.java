package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Buckets;
import dev.larder.loader.sample.Labels;
import dev.larder.loader.sample.Lengths;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.loader.sample.Subset;
import dev.larder.loader.sample.TokenBudget;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An epoch that was stopped somewhere and taken up again, by any number of ranks, is the epoch that was not stopped. */
class ResumeTest {
    private static final int ROWS = 97;

    @RegisterExtension
    static final Shelf shelf = Shelf.ofSamples(ROWS, 4);

    @RepeatedTest(150)
    void samplesAfterAnyStopAreThoseThatWereLeft(RepetitionInfo repetition) {
        Random random = seeded(repetition);
        int total = 1 << random.nextInt(5); // samples of all ranks together in a step
        int world = 1 << random.nextInt(Integer.numberOfTrailingZeros(total) + 1);
        Ranks first = new Ranks(sampler(random), tail(random), random.nextBoolean(), world, total / world);
        int newTotal = total >> random.nextInt(Integer.numberOfTrailingZeros(total) + 1);
        int newWorld = 1 << random.nextInt(Integer.numberOfTrailingZeros(newTotal) + 1);
        Ranks second = new Ranks(first.sampler, first.tail, first.wantsDropLast, newWorld, newTotal / newWorld);
        long epoch = random.nextInt(5);

        List<Long> whole = first.read(epoch, Long.MAX_VALUE).samples;
        Part stopped = first.read(epoch, 1 + random.nextInt(1 + ROWS / total));

        List<Long> both = new ArrayList<>(stopped.samples);
        both.addAll(stopped.state == null ? List.of() : second.resume(stopped.state)); // null: an epoch without a batch
        assertThat(both).startsWith(whole.toArray(Long[]::new));
        assertThat(both.size() - whole.size()).isBetween(0, newWorld - 1); // what fills up the last turn of more ranks
    }

    @RepeatedTest(100)
    void wholeBatchesAfterAnyStopAreThoseThatWereLeft(RepetitionInfo repetition) {
        Random random = seeded(repetition);
        int world = 1 + random.nextInt(4);
        int newWorld = random.nextBoolean() ? world : 1;
        BatchSampler sampler = batchSampler(random);
        Shard.Tail tail = random.nextBoolean() ? Shard.Tail.PAD : Shard.Tail.EXACT;
        long epoch = random.nextInt(5);

        List<Long> whole = batches(sampler, tail, world, epoch, Long.MAX_VALUE).samples;
        Part stopped = batches(sampler, tail, world, epoch, 1 + random.nextInt(4));
        List<Long> both = new ArrayList<>(stopped.samples);
        both.addAll(rest(sampler, tail, newWorld, Objects.requireNonNull(stopped.state)));

        assertThat(both).startsWith(whole.toArray(Long[]::new));
    }

    @Test
    void ranksThatDoNotDivideWhatIsLeftVisitAllOfIt() {
        Ranks four = new Ranks(Sampler.random(1), Shard.Tail.PAD, true, 4, 8); // 96 of 97 rows, the last one is dropped
        Ranks three = new Ranks(Sampler.random(1), Shard.Tail.PAD, true, 3, 8);
        List<Long> whole = four.read(0, Long.MAX_VALUE).samples;
        Part stopped = four.read(0, 1);

        List<Long> rest = three.resume(Objects.requireNonNull(stopped.state));

        assertThat(rest).startsWith(whole.subList(32, 96).toArray(Long[]::new));
        assertThat(rest.size()).isBetween(64, 66);
    }

    @Test
    void stateIsASmallReadableLineAndComesBack() {
        try (Loader loader =
                Loader.over(shelf.dataset).shuffle(42).batchSize(10).build()) {
            Iterator<Batch> batches = loader.epoch(3).iterator();
            batches.next();
            LoaderState state = batches.next().stateAfter();

            assertThat(state.toJson())
                    .isEqualTo("{\"format\":1,\"dataset\":\"shelf\",\"digest\":\"" + shelf.dataset.digest()
                            + "\",\"sampler\":\"random(seed=42)\",\"seed\":42,\"epoch\":3,\"consumed\":20,\"length\":97,\"receipt\":\""
                            + state.receipt() + "\"}");
            assertThat(LoaderState.parse(state.toJson())).isEqualTo(state);
            assertThat(LoaderState.parse(" { \"length\" : 97, \"consumed\": 20,\n\"epoch\":3,\"seed\":42,"
                            + "\"sampler\":\"random(seed=42)\",\"digest\":\"" + shelf.dataset.digest()
                            + "\",\"dataset\":\"shelf\",\"receipt\":\"" + state.receipt() + "\",\"format\":1 } "))
                    .isEqualTo(state);
        }
    }

    @Test
    void prefetchedBatchesDoNotCount() {
        try (Loader loader =
                Loader.over(shelf.dataset).batchSize(10).prefetch(8).threads(3).build()) {
            Batch first = loader.epoch(0).iterator().next();

            assertThat(first.stateAfter().consumed()).isEqualTo(10);
        }
    }

    @Test
    void doneEpochHasNothingLeft() {
        try (Loader loader = Loader.over(shelf.dataset).batchSize(50).build()) {
            List<LoaderState> states = new ArrayList<>();
            loader.epoch(0).forEach(batch -> states.add(batch.stateAfter()));

            assertThat(states.get(0).isEpochDone()).isFalse();
            assertThat(states.get(1).isEpochDone()).isTrue();
            assertThat(loader.resume(states.get(1))).isEmpty();
        }
    }

    @Test
    void otherDataAnotherOrderAndGarbageAreRefused() {
        try (Loader loader = Loader.over(shelf.dataset).shuffle(1).batchSize(10).build()) {
            LoaderState state = loader.epoch(0).iterator().next().stateAfter();
            LoaderState otherData = new LoaderState("shelf", "0".repeat(64), state.sampler(), 1, 0, 10, 97);
            LoaderState otherOrder = new LoaderState("shelf", state.digest(), "random(seed=2)", 2, 0, 10, 97);

            assertThatThrownBy(() -> loader.resume(otherData))
                    .hasMessageContaining("state was saved over other data: dataset=shelf version=1")
                    .hasMessageContaining("digest=" + shelf.dataset.digest());
            assertThatThrownBy(() -> loader.resume(otherOrder))
                    .hasMessageContaining("stateSampler=random(seed=2)")
                    .satisfies(e -> assertThat(((LarderException) e).code()).isEqualTo(ErrorCode.BAD_INPUT));
        }
        for (String garbage : List.of(
                "",
                "{",
                "{}",
                "[1]",
                "{\"format\":2}",
                "{\"format\":1}",
                "{\"format\":1,}",
                "null",
                "{\"format\":1,\"format\":1}",
                "{\"format\":99999999999999999999}",
                "{\"format\":1}x",
                "x".repeat(1 << 20))) {
            assertThatThrownBy(() -> LoaderState.parse(garbage)).hasMessageContaining("cannot read a loader's state");
        }
        assertThatThrownBy(() -> LoaderState.parse("{}")).hasMessageContaining("it has no \"format\"");
    }

    @Test
    void stateWithinAWholeBatchIsRefused() {
        BatchSampler buckets = BatchSampler.of(Sampler.random(1), 10, false);
        try (Loader loader = Loader.over(shelf.dataset).batches(buckets).build()) {
            LoaderState state = loader.epoch(0).iterator().next().stateAfter();
            LoaderState within = new LoaderState("shelf", state.digest(), state.sampler(), state.seed(), 0, 7, 97);

            assertThatThrownBy(() -> loader.resume(within)).hasMessageContaining("no batch begins at this position");
        }
    }

    private static Random seeded(RepetitionInfo repetition) {
        long seed = 20261121L + repetition.getCurrentRepetition();
        System.err.println("seed=" + seed);
        return new Random(seed);
    }

    private static Shard.Tail tail(Random random) {
        return List.of(Shard.Tail.values()).get(random.nextInt(3));
    }

    private static Sampler sampler(Random random) {
        double[] weights = random.doubles(ROWS, 0.1, 3).toArray();
        int[] classes = random.ints(ROWS, 0, 3).toArray();
        List<Sampler> samplers = List.of(
                Sampler.sequential(),
                Sampler.random(random.nextInt()),
                Sampler.permuted(random.nextLong()),
                Sampler.weighted(weights, 1 + random.nextInt(150), 3),
                Sampler.weightedWithoutReplacement(weights, 1 + random.nextInt(ROWS), 4),
                Sampler.stratified(Labels.of(classes), 5),
                Sampler.random(6).over(Subset.range(3, 1 + random.nextInt(60))));
        return samplers.get(random.nextInt(samplers.size()));
    }

    private static BatchSampler batchSampler(Random random) {
        Lengths lengths = Lengths.of(random.longs(ROWS, 1, 300).toArray());
        return switch (random.nextInt(3)) {
            case 0 ->
                Buckets.of(lengths).bounds(100, 220).batchSizes(32, 24, 16).shuffle(random.nextInt());
            case 1 -> TokenBudget.of(lengths).maxTokens(900).shuffle(random.nextInt());
            default -> BatchSampler.of(sampler(random), 1 + random.nextInt(20), false);
        };
    }

    private record Part(List<Long> samples, @Nullable LoaderState state) {}

    /** Ranks that read samples in step. */
    private record Ranks(Sampler sampler, Shard.Tail tail, boolean wantsDropLast, int world, int batch) {
        private boolean dropLast() {
            return wantsDropLast && tail != Shard.Tail.EXACT;
        }

        private List<Loader> loaders() {
            return IntStream.range(0, world)
                    .mapToObj(rank -> Loader.over(shelf.dataset)
                            .sampler(sampler)
                            .shard(new Shard(rank, world, tail))
                            .batchSize(batch)
                            .dropLast(dropLast())
                            .threads(rank % 2)
                            .build())
                    .toList();
        }

        Part read(long epoch, long steps) {
            List<Loader> loaders = loaders();
            return inTurn(
                    loaders, loaders.stream().map(loader -> loader.epoch(epoch)).toList(), steps);
        }

        List<Long> resume(LoaderState state) {
            List<Loader> loaders = loaders();
            return inTurn(
                            loaders,
                            loaders.stream().map(loader -> loader.resume(state)).toList(),
                            Long.MAX_VALUE)
                    .samples;
        }
    }

    private static Part batches(BatchSampler sampler, Shard.Tail tail, int world, long epoch, long steps) {
        List<Loader> loaders = loaders(sampler, tail, world);
        List<Epoch> epochs = loaders.stream().map(loader -> loader.epoch(epoch)).toList();
        return byBatch(loaders, epochs, steps);
    }

    private static List<Long> rest(BatchSampler sampler, Shard.Tail tail, int world, LoaderState state) {
        List<Loader> loaders = loaders(sampler, tail, world);
        List<Epoch> epochs =
                loaders.stream().map(loader -> loader.resume(state)).toList();
        return byBatch(loaders, epochs, Long.MAX_VALUE).samples;
    }

    private static List<Loader> loaders(BatchSampler sampler, Shard.Tail tail, int world) {
        return IntStream.range(0, world)
                .mapToObj(rank -> Loader.over(shelf.dataset)
                        .batches(sampler)
                        .shard(new Shard(rank, world, tail))
                        .threads(rank % 3)
                        .build())
                .toList();
    }

    /** Reads ranks in step: the first sample of each, the second of each, and so on. */
    private static Part inTurn(List<Loader> loaders, List<Epoch> epochs, long steps) {
        return read(loaders, epochs, steps, rows -> {
            List<Long> samples = new ArrayList<>();
            for (int i = 0; i < rows.get(0).length; i++) {
                for (long[] own : rows) {
                    if (i < own.length) {
                        samples.add(own[i]);
                    }
                }
            }
            return samples;
        });
    }

    private static Part byBatch(List<Loader> loaders, List<Epoch> epochs, long steps) {
        return read(
                loaders,
                epochs,
                steps,
                rows -> rows.stream().flatMapToLong(Arrays::stream).boxed().toList());
    }

    private static Part read(
            List<Loader> loaders,
            List<Epoch> epochs,
            long steps,
            java.util.function.Function<List<long[]>, List<Long>> order) {
        assertThat(epochs).allMatch(epoch -> epoch.batches() == epochs.get(0).batches());
        List<Iterator<Batch>> ranks = epochs.stream().map(Epoch::iterator).toList();
        List<Long> samples = new ArrayList<>();
        @Nullable LoaderState state = null;
        for (long step = 0; step < Math.min(steps, epochs.get(0).batches()); step++) {
            List<Batch> batches = ranks.stream().map(Iterator::next).toList();
            samples.addAll(order.apply(batches.stream().map(Batch::rows).toList()));
            state = batches.get(0).stateAfter();
            LoaderState own = state;
            assertThat(batches).allMatch(batch -> batch.stateAfter().equals(own));
        }
        loaders.forEach(Loader::close);
        return new Part(samples, state);
    }
}
