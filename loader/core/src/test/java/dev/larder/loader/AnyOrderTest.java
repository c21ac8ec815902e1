package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Buckets;
import dev.larder.loader.sample.Lengths;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.testing.Rounds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Batches that come as they are ready: whatever was handed out by then, a state says what is left. */
@Timeout(120)
class AnyOrderTest {
    private static final int ROWS = 83;

    private final Shelf shelf = Shelf.ofSamples(ROWS, 4);

    @AfterEach
    void close() {
        shelf.close();
    }

    /** Some samples take long, so that batches overtake each other. */
    private LoaderBuilder uneven(Random random) {
        int slow = 2 + random.nextInt(5);
        return Loader.over(shelf.dataset)
                .arrays("labels")
                .transform("labels", new Transform().map(Dtype.parse("<i4"), new long[0], (sample, result, draws) -> {
                            if (sample.getInt(0) % slow == 0) {
                                java.util.concurrent.locks.LockSupport.parkNanos(30_000);
                            }
                            result.put(sample);
                        }))
                .threads(2)
                .prefetch(2 + random.nextInt(5));
    }

    @Test
    void nothingIsLostOrVisitedTwiceHoweverOftenItIsResumedInWhateverOrderOnAnyNumberOfRanks() {
        Rounds rounds = Rounds.of("epochs resumed in any order", 25);
        long seed = rounds.seed();
        int overtaken = 0;
        for (int round = 0; round < rounds.count(); round++) {
            Random random = new Random(seed + round);
            boolean inBatches = random.nextInt(3) == 0;
            Lengths lengths = Lengths.of(random.ints(ROWS, 1, 9).toArray());
            BatchSampler buckets =
                    Buckets.of(lengths).bounds(4).batchSizes(7, 4).shuffle(round);
            Sampler sampler = random.nextBoolean() ? Sampler.random(round) : Sampler.permuted(round);
            int batch = 1 + random.nextInt(6);
            Shard.Tail tail = random.nextBoolean() ? Shard.Tail.EXACT : Shard.Tail.PAD;
            List<Long> seen = new ArrayList<>();
            LoaderState state = null;
            for (int part = 0; part < 20 && (state == null || !state.isEpochDone()); part++) {
                int world = 1 + random.nextInt(3);
                int steps = part == 5 ? 1000 : random.nextInt(6);
                boolean anyOrder = random.nextInt(4) > 0;
                List<LoaderState> states = new ArrayList<>();
                for (int rank = 0; rank < world; rank++) {
                    LoaderBuilder builder = uneven(random).shard(new Shard(rank, world, tail));
                    builder = inBatches
                            ? builder.batches(buckets)
                            : builder.sampler(sampler).batchSize(batch);
                    LoaderState own = read(anyOrder ? builder.inAnyOrder() : builder, state, steps, seen);
                    if (own != null) {
                        states.add(LoaderState.parse(own.toJson()));
                    }
                }
                if (!states.isEmpty()) {
                    state = LoaderState.merged(states);
                    overtaken += state.progress().isEmpty() ? 0 : 1;
                    assertThat(LoaderState.parse(state.toJson())).isEqualTo(state);
                }
            }
            assertThat(seen)
                    .as("case %d of seed %d", round, seed)
                    .containsExactlyInAnyOrderElementsOf(
                            LongStream.range(0, ROWS).boxed().toList());
            if (Objects.requireNonNull(state).isEpochDone()) {
                List<Long> order = inBatches ? rows(buckets.order(ROWS, 0)::row) : rows(sampler.order(ROWS, 0)::row);
                assertThat(state.receipt())
                        .as("case %d of seed %d", round, seed)
                        .isEqualTo(shelf.receipt(order));
            }
        }
        assertThat(overtaken).isPositive();
    }

    private static List<Long> rows(LongUnaryOperator row) {
        return LongStream.range(0, ROWS).map(row).boxed().toList();
    }

    /** Reads some batches, and adds the rows that count; returns the state after them, or nothing after none. */
    private static @Nullable LoaderState read(
            LoaderBuilder builder, @Nullable LoaderState from, int steps, List<Long> seen) {
        LoaderState state = null;
        try (Loader loader = builder.build()) {
            Iterator<Batch> batches = (from == null ? loader.epoch(0) : loader.resume(from)).iterator();
            for (int step = 0; step < steps && batches.hasNext(); step++) {
                Batch next = batches.next();
                Arrays.stream(next.rows()).limit(next.validSize()).forEach(seen::add);
                state = next.stateAfter();
            }
        }
        return state;
    }

    @Test
    void batchesAreWhatTheyWouldBeInTheirOrder() {
        try (Loader ordered = uneven(new Random(1)).shuffle(1).batchSize(5).build();
                Loader unordered = uneven(new Random(1))
                        .shuffle(1)
                        .batchSize(5)
                        .inAnyOrder()
                        .build()) {
            TreeMap<Long, List<Integer>> found = new TreeMap<>();
            unordered.epoch(2).forEach(batch -> found.put(batch.number(), Shelf.labels(batch)));

            assertThat(List.copyOf(found.values())).isEqualTo(Shelf.labels(ordered.epoch(2)));
        }
    }

    @Test
    void statesOfDevicesCountWhatTheyDelivered() {
        List<Long> seen = new ArrayList<>();
        LoaderState state = read(
                uneven(new Random(2)).shuffle(1).batchSize(5).inAnyOrder().device(new FakeDevice()), null, 6, seen);
        assertThat(state).isNotNull();
        read(uneven(new Random(2)).shuffle(1).batchSize(5), state, 1000, seen);

        assertThat(seen)
                .containsExactlyInAnyOrderElementsOf(
                        LongStream.range(0, ROWS).boxed().toList());
    }

    @Test
    void theStateOfOneRankIsNoStateOfAll() {
        List<LoaderState> states = IntStream.range(0, 2)
                .mapToObj(rank -> read(
                        uneven(new Random(3))
                                .shuffle(1)
                                .batchSize(5)
                                .inAnyOrder()
                                .shard(rank, 2),
                        null,
                        2,
                        new ArrayList<>()))
                .toList();
        try (Loader loader = uneven(new Random(3)).shuffle(1).batchSize(5).build()) {
            assertThatThrownBy(() -> loader.resume(states.get(1)))
                    .hasMessageContaining("one rank")
                    .hasMessageContaining("rank=1 world=2")
                    .hasMessageContaining("LoaderState.merged(states)");
        }
        assertThatThrownBy(() -> LoaderState.merged(List.of(states.get(0)))).hasMessageContaining("missing");
        assertThatThrownBy(() -> LoaderState.merged(List.of(states.get(0), states.get(0))))
                .hasMessageContaining("not those of the ranks of one run");
        assertThat(states.get(0).toJson())
                .contains("\"format\":2", "\"progress\":\"left= reached=0 before=0 rank=0 world=2");
    }

    @Test
    void whatIsNoProgressIsRefused() {
        String json = "{\"format\":2,\"dataset\":\"shelf\",\"digest\":\"d\",\"sampler\":\"s\",\"seed\":1,\"epoch\":0,"
                + "\"consumed\":1,\"length\":9,\"progress\":\"PROGRESS\"}";
        for (String progress :
                List.of("left=5 reached=4", "left=1", "left=a reached=4", "left= reached=4 rank=1", "x")) {
            assertThatThrownBy(() -> LoaderState.parse(json.replace("PROGRESS", progress)))
                    .as(progress)
                    .hasMessageContaining("progress");
        }
        assertThat(LoaderState.parse(json.replace("PROGRESS", "left=1-3 reached=6"))
                        .progress())
                .isEqualTo("left=1-3 reached=6");
        assertThatThrownBy(() -> LoaderState.parse(json.replace(":2,", ":3,"))).hasMessageContaining("format is 3");
    }
}
