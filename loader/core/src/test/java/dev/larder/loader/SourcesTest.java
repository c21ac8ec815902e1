package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.RaggedBuilder;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Mixture;
import dev.larder.loader.sample.Mixture.Exhausted;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.Rounds;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Several datasets in one loader. Each has {@code labels}, whose values are numbers of its own; {@code pixels}, noise; {@code words}, ragged;
 * {@code names}, texts; {@code id}, the row.
 */
@Timeout(120)
class SourcesTest {
    private final StoreFixture store = StoreFixture.create();
    private final Larder larder;
    private final Dataset a;
    private final Dataset b;
    private final Dataset c;

    SourcesTest() {
        publish("a", 0, 30);
        publish("b", 1000, 50);
        publish("c", 2000, 30);
        larder = Larder.connect(store.store());
        a = larder.dataset("a");
        b = larder.dataset("b");
        c = larder.dataset("c");
    }

    private void publish(String name, int first, int rows) {
        Map<String, FixtureArray> arrays = new LinkedHashMap<>();
        arrays.put(
                "labels", FixtureArray.ints(IntStream.range(first, first + rows).toArray(), rows));
        arrays.put("pixels", FixtureArray.bytes(Shelf.noiseBytes(rows * 12), rows, 4, 3));
        arrays.put("id", FixtureArray.longs(LongStream.range(0, rows).toArray(), rows));
        arrays.put(
                "later",
                FixtureArray.longs(
                        LongStream.range(1, rows + 1).map(i -> i % rows).toArray(), rows));
        arrays.put(
                "only-" + name,
                FixtureArray.ints(IntStream.range(first, first + rows).toArray(), rows));
        arrays.put("odd", name.equals("b") ? FixtureArray.longs(new long[rows], rows) : Shelf.labels(rows));
        RaggedBuilder words = new RaggedBuilder(Dtype.parse("<i4"), 1);
        StringsBuilder names = new StringsBuilder();
        for (int row = 0; row < rows; row++) {
            int length = row % 4;
            ByteBuffer numbers =
                    ByteBuffer.allocateDirect(length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < length; i++) {
                numbers.putInt(first + row + i);
            }
            words.add(numbers.flip(), length);
            names.add(name + row);
        }
        add(arrays, words.arrays("words"));
        add(arrays, names.arrays("names"));
        store.publish(name, arrays);
    }

    private static void add(Map<String, FixtureArray> arrays, List<ColumnArray> column) {
        column.forEach(array -> arrays.put(array.name(), FixtureArray.of(array)));
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
        c.close();
        larder.close();
        store.close();
    }

    private static List<Integer> labels(Epoch epoch) {
        return Shelf.flat(Shelf.labels(epoch));
    }

    private static List<Integer> range(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    // ---- one after the other

    @Test
    void rowsOfDatasetsFollowEachOther() {
        try (Loader loader = Loader.over(Sources.concat(a, b, c))
                .fields(
                        Field.rows("labels"),
                        Field.padded("words").fillValue(-1),
                        Field.texts("names"),
                        Field.rows("labels").at("later").as("next"),
                        Field.rows("pixels").transform(new Transform().toFloat().normalize(0.5f, 0.25f)))
                .batchSize(7)
                .build()) {
            assertThat(loader.rows()).isEqualTo(110);
            List<Integer> labels = new ArrayList<>();
            for (Batch batch : loader.epoch(0)) {
                List<Integer> own = Shelf.labels(batch);
                labels.addAll(own);
                ByteBuffer words = batch.array("words").byteBuffer();
                int longest = (int) batch.array("words").dimension(1);
                for (int i = 0; i < own.size(); i++) {
                    int dataset = own.get(i) / 1000;
                    int row = own.get(i) % 1000;
                    int rows = dataset == 1 ? 50 : 30;
                    assertThat(batch.text("names", i)).isEqualTo("abc".charAt(dataset) + "" + row);
                    assertThat(batch.array("next").byteBuffer().getInt(4 * i))
                            .isEqualTo(dataset * 1000 + (row + 1) % rows);
                    for (int j = 0; j < longest; j++) {
                        assertThat(words.getInt(4 * (i * longest + j))).isEqualTo(j < row % 4 ? own.get(i) + j : -1);
                    }
                }
            }
            List<Integer> expected = new ArrayList<>(range(0, 30));
            expected.addAll(range(1000, 1050));
            expected.addAll(range(2000, 2030));
            assertThat(labels).isEqualTo(expected);
        }
    }

    @Test
    void theyAreShuffledAsOneAndTheSameBytesWhateverReadsThem() {
        List<Long> sums = new ArrayList<>();
        for (int way = 0; way < 4; way++) {
            LoaderBuilder builder = Loader.over(Sources.concat(a, b))
                    .fields(
                            Field.rows("labels"),
                            Field.packed("words"),
                            Field.rows("pixels")
                                    .transform(new Transform().randomFlip(0.5f).toFloat()))
                    .shuffle(5)
                    .batchSize(9)
                    .threads(way == 0 ? 0 : 2)
                    .prefetch(1 + way);
            if (way > 1) {
                builder.device(new FakeDevice());
            }
            try (Loader loader = builder.build()) {
                assertThat(loader.mode().map(DeviceMode::toString).orElse("")).isEqualTo(way > 1 ? "STREAM" : "");
                sums.add(Shelf.checksum(loader.epoch(3)));
            }
        }
        assertThat(sums).allMatch(sums.get(0)::equals);
    }

    @Test
    void aFunctionMayMakeRowsOfOtherLengthsFromEachDataset() {
        Field doubled = Field.padded("words").mapRagged(Dtype.parse("<i4"), new long[] {6}, (row, result) -> {
            row.getBytes(0, result, 0, row.capacity());
            row.getBytes(0, result, row.capacity(), row.capacity());
            return 2 * row.capacity() / Integer.BYTES;
        });
        try (Loader loader = Loader.over(Sources.concat(a, b))
                .fields(Field.rows("labels"), doubled)
                .shuffle(2)
                .batchSize(9)
                .build()) {
            for (Batch batch : loader.epoch(0)) {
                BatchArray words = batch.array("words");
                for (int i = 0; i < batch.size(); i++) {
                    int first = batch.array("labels").getInt(i);
                    int length = first % 1000 % 4;
                    for (int j = 0; j < words.dimension(1); j++) {
                        boolean isThere = j < 2 * length;
                        assertThat(words.getInt(i, j)).isEqualTo(isThere ? first + j % length : 0);
                        assertThat(batch.array("words.mask").getInt(i, j)).isEqualTo(isThere ? 1 : 0);
                    }
                }
            }
        }
    }

    @Test
    void windowsCrossNoBorderBetweenDatasets() {
        try (Loader loader = Loader.over(Sources.concat(a, b))
                .fields(Field.window("labels", 8).stride(8))
                .batchSize(20)
                .build()) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThat(batch.array("labels").shape()).containsExactly(9, 8); // three of 30 rows, six of 50
            for (int i = 0; i < 9; i++) {
                int first = batch.array("labels").byteBuffer().getInt(32 * i);
                assertThat(first).isEqualTo(i < 3 ? 8 * i : 1000 + 8 * (i - 3));
                assertThat(batch.array("labels").byteBuffer().getInt(32 * i + 28))
                        .isEqualTo(first + 7);
            }
        }
    }

    @Test
    void datasetsThatDifferAreRefusedByName() {
        assertThatThrownBy(() -> Loader.over(Sources.concat(a, b))
                        .arrays("odd")
                        .batchSize(4)
                        .build())
                .hasMessageContaining("array=odd a=<i4 [] b=<i8 []");
        assertThatThrownBy(() -> Loader.over(Sources.concat(a, b))
                        .arrays("only-a")
                        .batchSize(4)
                        .build())
                .hasMessageContaining("only-a")
                .hasMessageContaining("dataset=b");
        assertThatThrownBy(() -> Loader.over(Sources.concat(a, b))
                        .fields(Field.rows("labels").from("a"))
                        .batchSize(4)
                        .build())
                .hasMessageContaining("from(…)");
        assertThatThrownBy(() -> Loader.over(Sources.concat(a, b))
                        .arrays("labels")
                        .batchSize(4)
                        .device(new FakeDevice())
                        .deviceMode(DeviceMode.RESIDENT)
                        .build())
                .hasMessageContaining("not resident")
                .hasMessageContaining("dataset=a+b");
    }

    @Test
    void aSampleThatFailsIsNamedByItsDatasetAndRow() {
        LoaderBuilder builder = Loader.over(Sources.concat(a, b))
                .arrays("labels")
                .transform("labels", new Transform().map(Dtype.parse("<i4"), new long[0], (sample, result, random) -> {
                            if (sample.getInt(0) == 1004) {
                                throw new IllegalArgumentException("four");
                            }
                        }))
                .batchSize(8);
        try (Loader loader = builder.build()) {
            assertThatThrownBy(() -> loader.epoch(0).forEach(batch -> {}))
                    .hasMessageContaining("dataset=a+b")
                    .hasMessageContaining("array=labels sample=34")
                    .hasMessageContaining("of=b row=4");
        }
    }

    // ---- side by side

    @Test
    void samplesHaveARowOfEach() {
        try (Loader loader = Loader.over(Sources.zip("id", a, c))
                .fields(
                        Field.rows("only-a"),
                        Field.rows("labels").from("c").as("others"),
                        Field.texts("names").from("c"))
                .shuffle(3)
                .batchSize(10)
                .build()) {
            assertThat(loader.rows()).isEqualTo(30);
            for (Batch batch : loader.epoch(0)) {
                for (int i = 0; i < batch.size(); i++) {
                    int row = batch.array("only-a").byteBuffer().getInt(4 * i);
                    assertThat(batch.array("others").byteBuffer().getInt(4 * i)).isEqualTo(2000 + row);
                    assertThat(batch.text("names", i)).isEqualTo("c" + row);
                    assertThat(batch.row(i)).isEqualTo(row);
                }
            }
        }
    }

    @Test
    void rowsThatDoNotBelongTogetherAreRefused() {
        assertThatThrownBy(() -> Loader.over(Sources.zip(a, b))
                        .arrays("only-a", "only-b")
                        .batchSize(4)
                        .build())
                .hasMessageContaining("differ in rows")
                .hasMessageContaining("dataset=b")
                .hasMessageContaining("only-a=30 only-b=50");
        assertThatThrownBy(() -> Loader.over(Sources.zip("labels", a, c))
                        .arrays("only-a")
                        .batchSize(4)
                        .build())
                .hasMessageContaining("do not belong together")
                .hasMessageContaining("dataset=a other=c key=labels row=0");
        assertThatThrownBy(() -> Loader.over(Sources.zip("names", a, c))
                        .arrays("only-a")
                        .batchSize(4)
                        .build())
                .hasMessageContaining("key=names row=0 a=a0 c=c0");
        assertThatThrownBy(() -> Loader.over(Sources.zip("id", a, b))
                        .arrays("only-a")
                        .batchSize(4)
                        .build())
                .hasMessageContaining("do not belong together");
        assertThatThrownBy(() -> Loader.over(Sources.zip(a, c))
                        .arrays("labels")
                        .batchSize(4)
                        .build())
                .hasMessageContaining("several datasets have this")
                .hasMessageContaining("from(dataset)");
        assertThatThrownBy(() -> Loader.over(Sources.zip(a, c))
                        .arrays("nothing")
                        .batchSize(4)
                        .build())
                .hasMessageContaining("no dataset has this")
                .hasMessageContaining("dataset=a+c");
        assertThatThrownBy(() -> Sources.zip(a, a)).hasMessageContaining("names=[a, a]");
    }

    // ---- mixed

    @Test
    void mixturesHaveTheSharesOfTheirWeightsAndStatesSayWhereEachIs() {
        try (Loader loader = Loader.over(Sources.mix(Mixture.weights(3, 1), b, a))
                .arrays("labels")
                .shuffle(3)
                .batchSize(16)
                .build()) {
            int fromB = 0;
            int visited = 0;
            for (Batch batch : loader.epoch(0)) {
                for (int label : Shelf.labels(batch)) {
                    fromB += label >= 1000 ? 1 : 0;
                    visited++;
                }
                assertThat(batch.stateAfter().places()).isEqualTo("b=" + fromB + " a=" + (visited - fromB));
                assertThat(LoaderState.parse(batch.stateAfter().toJson())).isEqualTo(batch.stateAfter());
            }
            assertThat(fromB).isEqualTo(50); // the first that has no rows left
            assertThat(visited - fromB).isBetween(15, 19);
        }
    }

    @Test
    void mixturesMakeTheirOwnBatches() {
        assertThatThrownBy(() -> Loader.over(Sources.mix(Mixture.bySize(), a, b))
                        .arrays("labels")
                        .batches(BatchSampler.of(Sampler.sequential(), 4, false))
                        .build())
                .hasMessageContaining("batchSize(…)");
        assertThatThrownBy(() -> Sources.mix(Mixture.weights(1, 2, 3), a, b))
                .hasMessageContaining("weights=3 sources=2");
    }

    // ---- states

    @Test
    void statesOfOtherDatasetsOrMixturesAreRefused() {
        try (Loader both = Loader.over(Sources.concat(a, b))
                        .arrays("labels")
                        .batchSize(4)
                        .build();
                Loader swapped = Loader.over(Sources.concat(b, a))
                        .arrays("labels")
                        .batchSize(4)
                        .build();
                Loader one = Loader.over(a).arrays("labels").batchSize(4).build();
                Loader mixed = Loader.over(Sources.mix(Mixture.bySize(), a, b))
                        .arrays("labels")
                        .batchSize(4)
                        .build()) {
            LoaderState state = both.epoch(0).iterator().next().stateAfter();
            assertThat(state.dataset()).isEqualTo("a+b");
            assertThat(state.digest()).isEqualTo("concat(" + a.digest() + "," + b.digest() + ")");
            assertThatThrownBy(() -> swapped.resume(state)).hasMessageContaining("over other data");
            assertThatThrownBy(() -> one.resume(state)).hasMessageContaining("over other data");
            assertThatThrownBy(() -> mixed.resume(state)).hasMessageContaining("another order");
        }
    }

    @Test
    void severalDatasetsAreStoppedAndResumedAsOneOnAnyNumberOfRanks() {
        Rounds rounds = Rounds.of("several datasets resumed", 25);
        long seed = rounds.seed();
        for (int round = 0; round < rounds.count(); round++) {
            Random random = new Random(seed + round);
            Source source = switch (random.nextInt(5)) {
                case 0 -> Sources.concat(a, b, c);
                case 1 -> Sources.zip("id", a, c);
                default ->
                    Sources.mix(
                            Mixture.weights(1 + random.nextInt(9), 1 + random.nextInt(9), 1)
                                    .temperature(1 + random.nextInt(3))
                                    .exhausted(List.of(Exhausted.values()).get(random.nextInt(3))),
                            a,
                            b,
                            c);
            };
            boolean zipped = source.toString().contains("ZIP");
            Field field = zipped ? Field.rows("labels").from("c") : Field.rows("labels");
            Sampler within = switch (random.nextInt(3)) {
                case 0 -> Sampler.sequential();
                case 1 -> Sampler.random(round);
                default -> Sampler.permuted(round);
            };
            int batch = 1 + random.nextInt(9);
            long epoch = random.nextInt(3);
            Ranks ranks = (rank, world) -> Loader.over(source)
                    .fields(field)
                    .sampler(within)
                    .seed(4)
                    .shard(Shard.of(rank, world).exact())
                    .batchSize(batch)
                    .threads(random.nextInt(3))
                    .build();
            List<Integer> model = new ArrayList<>();
            read(ranks, 1, null, epoch, 10_000, model);

            List<Integer> found = new ArrayList<>();
            LoaderState state = read(ranks, 1 + random.nextInt(4), null, epoch, 1 + random.nextInt(4), found);
            while (state != null && !state.isEpochDone()) {
                LoaderState parsed = LoaderState.parse(state.toJson());
                state = read(ranks, 1 + random.nextInt(4), parsed, epoch, 1 + random.nextInt(20), found);
            }
            assertThat(found).as("case %d of seed %d: %s", round, seed, source).isEqualTo(model);
        }
    }

    private interface Ranks {
        Loader loader(int rank, int world);
    }

    private static @Nullable LoaderState read(
            Ranks ranks, int world, @Nullable LoaderState from, long epoch, int steps, List<Integer> found) {
        List<List<Integer>> read = new ArrayList<>();
        LoaderState state = from;
        for (int rank = 0; rank < world; rank++) {
            List<Integer> own = new ArrayList<>();
            try (Loader loader = ranks.loader(rank, world)) {
                Iterator<Batch> batches = (from == null ? loader.epoch(epoch) : loader.resume(from)).iterator();
                for (int step = 0; step < steps && batches.hasNext(); step++) {
                    Batch batch = batches.next();
                    IntStream.range(0, batch.size())
                            .forEach(i -> own.add(batch.array(0).byteBuffer().getInt(4 * i)));
                    state = batch.stateAfter();
                }
            }
            read.add(own);
        }
        for (int i = 0; i < read.get(0).size(); i++) {
            for (List<Integer> own : read) {
                if (i < own.size()) {
                    found.add(own.get(i));
                }
            }
        }
        return state;
    }

    @Test
    void epochsBesideAndInARowAreOfAllDatasets() {
        try (Loader loader = Loader.over(Sources.mix(Mixture.bySize().exhausted(Exhausted.UNTIL_ALL), a, b))
                .arrays("labels")
                .shuffle(1)
                .batchSize(10)
                .build()) {
            for (Epoch epoch : loader.epochs(0, 3)) {
                assertThat(labels(epoch)).hasSize(80).doesNotHaveDuplicates();
                assertThat(labels(loader.beside(Sampler.sequential())).subList(28, 32))
                        .isEqualTo(Arrays.asList(28, 29, 1000, 1001));
            }
        }
    }
}
