package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Buckets;
import dev.larder.loader.sample.LastBatch;
import dev.larder.loader.sample.Lengths;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.loader.sample.Subset;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Epochs that follow each other without a pause, and one beside another. */
@Timeout(60)
@Tag("races")
class EpochsTest {
    private static final int ROWS = 97;

    private final Shelf shelf = Shelf.ofSamples(ROWS, 16);
    private final AtomicInteger read = new AtomicInteger();

    @AfterEach
    void close() {
        shelf.close();
    }

    private LoaderBuilder builder() {
        return Loader.over(shelf.dataset).shuffle(42).batchSize(10);
    }

    /** Counts the samples that were read. */
    private LoaderBuilder counting(LoaderBuilder builder) {
        return builder.arrays("labels", "images")
                .transform("labels", new Transform().map(Dtype.parse("<i4"), new long[0], (sample, result, random) -> {
                            read.incrementAndGet();
                            result.put(sample);
                        }));
    }

    @ParameterizedTest
    @CsvSource({"0,4,false", "1,1,false", "2,4,false", "3,20,false", "2,4,true", "3,9,true"})
    void epochsInARowHaveTheBatchesOfSingleOnes(int threads, int slots, boolean device) {
        LoaderBuilder builder = builder().threads(threads).prefetch(slots);
        if (device) {
            builder.device(new FakeDevice()).deviceSlots(slots);
        }
        try (Loader single = builder.build();
                Loader inARow = builder.build()) {
            List<Long> expected = new ArrayList<>();
            for (long number = 3; number < 9; number++) {
                expected.add(Shelf.checksum(single.epoch(number)));
            }
            List<Long> found = new ArrayList<>();
            for (Epoch epoch : inARow.epochs(3, 9)) {
                assertThat(epoch.number()).isEqualTo(3 + found.size());
                found.add(Shelf.checksum(epoch));
            }
            assertThat(found).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theFirstBatchesOfTheNextEpochAreMadeBehindTheLastOnesOfThis(boolean device) {
        LoaderBuilder builder = counting(builder().threads(2).prefetch(5));
        if (device) {
            builder.device(new FakeDevice());
        }
        try (Loader loader = builder.build()) {
            Iterator<Epoch> epochs = loader.epochs(0, 2).iterator();
            Iterator<Batch> batches = epochs.next().iterator();
            for (int i = 0; i < 10; i++) {
                batches.next();
            }
            assertThat(batches.hasNext()).isFalse();
            await().until(() -> read.get() >= ROWS + 2 * 10); // threads sleep until half of the slots are free
            epochs.next().forEach(batch -> {});
            assertThat(read).hasValue(2 * ROWS);
        }
    }

    @Test
    void singleEpochsAreNotMadeAhead() {
        try (Loader loader = counting(builder().threads(2).prefetch(5)).build()) {
            loader.epoch(0).forEach(batch -> {});
            await().during(Duration.ofMillis(50)).until(() -> read.get() == ROWS);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anEpochThatIsLeftEarlyIsFollowedByTheWholeNextOne(boolean device) {
        LoaderBuilder builder = builder().threads(2).prefetch(4);
        if (device) {
            builder.device(new FakeDevice());
        }
        try (Loader loader = builder.build();
                Loader single = builder().build()) {
            for (int stop = 0; stop <= 10; stop++) {
                for (Epoch epoch : loader.epochs(stop, stop + 3)) {
                    boolean whole = epoch.number() == stop + 2;
                    List<List<Long>> rows = new ArrayList<>();
                    Iterator<Batch> batches = epoch.iterator();
                    while (batches.hasNext() && (whole || rows.size() < stop)) {
                        rows.add(LongList.of(batches.next().rows()));
                    }
                    if (epoch.number() == stop) {
                        epoch.close();
                    }
                    List<List<Long>> expected = new ArrayList<>();
                    single.epoch(epoch.number()).forEach(batch -> expected.add(LongList.of(batch.rows())));
                    assertThat(rows).isEqualTo(expected.subList(0, whole ? 10 : stop));
                }
            }
        }
    }

    @Test
    void epochsInARowAreLeftForAnyOtherOne() {
        try (Loader loader = builder().threads(2).build();
                Loader single = builder().build()) {
            Iterator<Epoch> epochs = loader.epochs(0, 5).iterator();
            LoaderState state = epochs.next().iterator().next().stateAfter();
            assertThat(Shelf.checksum(loader.resume(state))).isEqualTo(Shelf.checksum(single.resume(state)));
            assertThat(Shelf.checksum(epochs.next())).isEqualTo(Shelf.checksum(single.epoch(1)));
            assertThat(Shelf.checksum(loader.epoch(7))).isEqualTo(Shelf.checksum(single.epoch(7)));
            assertThat(Shelf.checksum(epochs.next())).isEqualTo(Shelf.checksum(single.epoch(2)));
        }
    }

    @Test
    void ordersThatAnotherThreadLaysDownFollowAsWell() {
        try (Shelf large = Shelf.ofSamples(200_000, 1);
                Loader loader = Loader.over(large.dataset)
                        .arrays("labels")
                        .shuffle(1)
                        .batchSize(5_000)
                        .prefetch(3)
                        .build();
                Loader single = Loader.over(large.dataset)
                        .arrays("labels")
                        .shuffle(1)
                        .batchSize(5_000)
                        .build()) {
            for (Epoch epoch : loader.epochs(0, 6)) {
                assertThat(Shelf.checksum(epoch)).isEqualTo(Shelf.checksum(single.epoch(epoch.number())));
            }
        }
    }

    @Test
    void aSamplerOfOnesOwnIsAskedInTheCallersThreadAlone() {
        List<String> asked = new ArrayList<>();
        Sampler own = (rows, epoch) -> {
            asked.add(Thread.currentThread().getName() + " " + epoch);
            return Sampler.permuted(1).order(rows, epoch);
        };
        String self = Thread.currentThread().getName();
        try (Loader loader =
                Loader.over(shelf.dataset).sampler(own).batchSize(10).build()) {
            loader.epochs(0, 3).forEach(epoch -> epoch.forEach(batch -> {}));
        }
        assertThat(asked).containsExactly(self + " 0", self + " 1", self + " 2");
    }

    @Test
    void statesOfEpochsInARowAreThoseOfSingleOnes() {
        try (Loader loader = builder().build();
                Loader single = builder().build()) {
            for (Epoch epoch : loader.epochs(0, 3)) {
                Iterator<Batch> expected = single.epoch(epoch.number()).iterator();
                for (Batch batch : epoch) {
                    assertThat(batch.stateAfter()).isEqualTo(expected.next().stateAfter());
                }
            }
        }
    }

    @Test
    void rangesOfEpochsAreChecked() {
        try (Loader loader = builder().build()) {
            assertThat(loader.epochs(4, 4)).isEmpty();
            assertThatThrownBy(() -> loader.epochs(3, 2)).hasMessageContaining("from=3 to=2");
            assertThatThrownBy(() -> loader.epochs(-1, 2)).hasMessageContaining("from=-1");
        }
    }

    // ---- beside another one

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anEpochBesideAnotherVisitsEverySampleOnceAndLeavesItWhereItIs(boolean device) {
        Subset validation = Subset.range(60, 37);
        LoaderBuilder builder = builder().threads(1).sampler(Sampler.random(42).over(Subset.range(0, 60)));
        Supplier<LoaderBuilder> configured = () -> device ? builder.device(new FakeDevice()) : builder;
        try (Loader loader = configured.get().build();
                Loader single = builder.build()) {
            List<List<Long>> expected = new ArrayList<>();
            single.epoch(0).forEach(batch -> expected.add(LongList.of(batch.rows())));

            List<List<Long>> trained = new ArrayList<>();
            for (Batch batch : loader.epoch(0)) {
                if (batch.number() % 2 == 1) {
                    List<Long> evaluated = new ArrayList<>();
                    for (Batch other : loader.beside(Sampler.sequential().over(validation))) {
                        evaluated.addAll(LongList.of(other.rows()));
                        assertThatThrownBy(other::stateAfter).hasMessageContaining("no state");
                    }
                    assertThat(evaluated).isEqualTo(LongList.range(60, 97));
                }
                trained.add(LongList.of(batch.rows()));
            }
            assertThat(trained).isEqualTo(expected);
        }
    }

    @Test
    void ranksShareAnEpochBesideAnother() {
        List<Long> seen = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) {
            try (Loader loader =
                    builder().shard(rank, 3).lastBatch(LastBatch.PAD).build()) {
                for (Batch batch : loader.beside(Sampler.sequential())) {
                    assertThat(batch.size()).isEqualTo(10);
                    seen.addAll(LongList.of(batch.rows()).subList(0, batch.validSize()));
                }
            }
        }
        assertThat(seen).containsExactlyInAnyOrderElementsOf(LongList.range(0, ROWS));
    }

    // ---- static shapes

    @ParameterizedTest
    @CsvSource({"PAD,PAD", "PAD,DROP", "PAD,EXACT", "DROP,PAD", "DROP,DROP"})
    void allBatchesAreFullAlsoWhereAnEpochIsResumedOnAnotherNumberOfRanks(LastBatch last, Shard.Tail tail) {
        for (int stop = 0; stop < 4; stop++) {
            for (int world = 1; world < 5; world++) {
                List<LoaderState> states = new ArrayList<>();
                List<Long> seen = full(last, new Shard(0, 2, tail), null, stop, states);
                LoaderState state = states.isEmpty() ? null : states.get(states.size() - 1);
                seen.addAll(full(last, new Shard(1, 2, tail), null, stop, states));
                for (int rank = 0; rank < world && state != null && !state.isEpochDone(); rank++) {
                    seen.addAll(full(last, new Shard(rank, world, tail), state, 1000, states));
                }
                if (state != null && last == LastBatch.PAD && tail != Shard.Tail.DROP) {
                    assertThat(seen).containsExactlyInAnyOrderElementsOf(LongList.range(0, ROWS));
                } else {
                    assertThat(seen).doesNotHaveDuplicates();
                }
                assertThat(states.isEmpty()
                                || state == null
                                || stop == 0
                                || states.get(states.size() - 1).isEpochDone())
                        .isTrue();
            }
        }
    }

    private List<Long> full(
            LastBatch last,
            Shard shard,
            @org.jspecify.annotations.Nullable LoaderState from,
            int steps,
            List<LoaderState> states) {
        List<Long> seen = new ArrayList<>();
        try (Loader loader = Loader.over(shelf.dataset)
                .arrays("labels")
                .shuffle(1)
                .shard(shard)
                .batchSize(7)
                .lastBatch(last)
                .threads(0)
                .build()) {
            Epoch epoch = from == null ? loader.epoch(0) : loader.resume(from);
            Iterator<Batch> batches = epoch.iterator();
            long samples = 0;
            for (int step = 0; step < steps && batches.hasNext(); step++) {
                Batch batch = batches.next();
                assertThat(batch.size()).isEqualTo(7);
                samples += batch.size();
                seen.addAll(LongList.of(batch.rows()).subList(0, batch.validSize()));
                states.add(batch.stateAfter());
            }
            assertThat(batches.hasNext() || samples == epoch.samples()).isTrue();
        }
        return seen;
    }

    @Test
    void noRankHasAnEmptyBatchWhereTheyArePadded() {
        Lengths lengths =
                Lengths.of(IntStream.range(0, ROWS).map(i -> 1 + i % 7).toArray());
        BatchSampler buckets = Buckets.of(lengths).bounds(4).batchSizes(9, 5).shuffle(3);
        List<Long> seen = new ArrayList<>();
        for (int rank = 0; rank < 4; rank++) {
            try (Loader loader = Loader.over(shelf.dataset)
                    .batches(buckets)
                    .shard(Shard.of(rank, 4).exact())
                    .lastBatch(LastBatch.PAD)
                    .build()) {
                Epoch epoch = loader.epoch(1);
                int samples = 0;
                for (Batch batch : epoch) {
                    assertThat(batch.size()).isPositive();
                    samples += batch.size();
                    seen.addAll(LongList.of(batch.rows()).subList(0, batch.validSize()));
                }
                assertThat(epoch.samples()).isEqualTo(samples);
            }
        }
        assertThat(seen).containsExactlyInAnyOrderElementsOf(LongList.range(0, ROWS));
    }

    @Test
    void contradictionsAreRefused() {
        assertThatThrownBy(
                        () -> builder().dropLast(true).lastBatch(LastBatch.PAD).build())
                .hasMessageContaining("lastBatch");
        assertThatThrownBy(() -> builder()
                        .shard(Shard.of(0, 2).exact())
                        .lastBatch(LastBatch.DROP)
                        .build())
                .hasMessageContaining("exact shards");
        assertThatThrownBy(() -> Loader.over(shelf.dataset)
                        .batches(BatchSampler.of(Sampler.sequential(), 4, false))
                        .lastBatch(LastBatch.DROP)
                        .build())
                .hasMessageContaining("makes the batches");
    }

    /** Boxes rows. */
    private static final class LongList {
        static List<Long> of(long[] rows) {
            return java.util.Arrays.stream(rows).boxed().toList();
        }

        static List<Long> range(long from, long to) {
            return java.util.stream.LongStream.range(from, to).boxed().toList();
        }
    }
}
