package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Windows of arrays whose values are their places, so that each value read tells where it comes from. */
class WindowTest {
    private static final int TOKENS = 101;

    /** Documents of 10, 0, 3, 40 and 48 tokens. */
    private static final long[] BORDERS = {0, 10, 10, 13, 53, 101};

    private final long seed = Long.getLong("larder.seed", System.nanoTime());
    private final Shelf shelf = Shelf.of(Map.of(
            "tokens",
            Shelf.labels(TOKENS),
            "steps",
            FixtureArray.ints(IntStream.range(0, TOKENS * 6).toArray(), TOKENS, 3, 2),
            "columns",
            FixtureArray.of("<i4", Order.F, fortran(), TOKENS, 3),
            "pixels",
            Shelf.noise(TOKENS, 4),
            "short",
            Shelf.labels(TOKENS - 1),
            "borders",
            FixtureArray.longs(BORDERS, BORDERS.length),
            "spoiled",
            FixtureArray.longs(new long[] {0, 50, 40, 101}, 4),
            "begins",
            FixtureArray.longs(new long[] {90, 0, 91, 33}, 4)));

    @AfterEach
    void close() {
        shelf.close();
    }

    /** Column after column: element (i, j) is 3 i + j. */
    private static byte[] fortran() {
        ByteBuffer bytes = ByteBuffer.allocate(TOKENS * 3 * 4).order(ByteOrder.LITTLE_ENDIAN);
        for (int j = 0; j < 3; j++) {
            for (int i = 0; i < TOKENS; i++) {
                bytes.putInt(3 * i + j);
            }
        }
        return bytes.array();
    }

    private Loader loader(Field... fields) {
        return Loader.over(shelf.dataset).fields(fields).batchSize(4).build();
    }

    @Test
    void windowsFollowEachOtherUnlessAStrideSaysOtherwise() {
        try (Loader apart = loader(Field.window("tokens", 8));
                Loader overlapping = loader(Field.window("tokens", 8).stride(3))) {
            assertThat(apart.rows()).isEqualTo(12); // 96 of 101 tokens
            assertThat(starts(apart.epoch(0), "tokens", 8))
                    .containsExactly(0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88);
            assertThat(overlapping.rows()).isEqualTo(32); // the last begins with token 93
            assertThat(starts(overlapping.epoch(0), "tokens", 8))
                    .containsExactlyElementsOf(
                            IntStream.range(0, 32).map(i -> 3 * i).boxed().toList());
        }
    }

    @Test
    void inputsAndTargetsGoTogetherAndNoneReachesBeyondTheLastToken() {
        try (Loader loader = Loader.over(shelf.dataset)
                .fields(
                        Field.window("tokens", 10).as("inputs"),
                        Field.window("tokens", 10).offset(1).as("targets"))
                .shuffle(seed)
                .batchSize(4)
                .build()) {
            assertThat(loader.rows()).isEqualTo(10); // ten windows of 10, and token 100 is the last target
            for (Batch batch : loader.epoch(0)) {
                assertThat(ints(batch, "targets"))
                        .isEqualTo(
                                ints(batch, "inputs").stream().map(i -> i + 1).toList());
                assertThat(ints(batch, "inputs").get(0)).isEqualTo((int) batch.row(0) * 10);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"steps", "columns"})
    void windowsOfArraysOfMoreDimensionsHaveWholeRows(String array) {
        int perRow = array.equals("steps") ? 6 : 3;
        try (Loader loader = loader(Field.window(array, 5).stride(7))) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThat(Arrays.copyOf(batch.array(array).shape(), 3)).containsExactly(4, 5, 3);
            assertThat(ints(batch, array))
                    .isEqualTo(IntStream.range(0, 4)
                            .flatMap(i -> IntStream.range(7 * i * perRow, (7 * i + 5) * perRow))
                            .boxed()
                            .toList());
        }
    }

    @Test
    void windowsWithinDocumentsCrossNoBorder() {
        try (Loader loader = loader(Field.window("tokens", 5).stride(5).within("borders"));
                Loader wide = loader(Field.window("tokens", 12).stride(30).within("borders"))) {
            assertThat(starts(loader.epoch(0), "tokens", 5))
                    .containsExactly(0, 5, 13, 18, 23, 28, 33, 38, 43, 48, 53, 58, 63, 68, 73, 78, 83, 88, 93);
            assertThat(starts(wide.epoch(0), "tokens", 12)).containsExactly(13, 53, 83);
        }
    }

    @Test
    void randomWindowsAreAnywhereWithinTheirDocumentsAndElsewhereInEveryEpoch() {
        try (Loader loader = Loader.over(shelf.dataset)
                .fields(
                        Field.window("tokens", 5).random().within("borders"),
                        Field.window("steps", 5).random().within("borders"))
                .seed(7)
                .batchSize(6)
                .build()) {
            Set<Integer> seen = new TreeSet<>();
            Set<List<Integer>> epochs = new HashSet<>();
            for (long epoch = 0; epoch < 60; epoch++) {
                List<Integer> starts = new ArrayList<>();
                for (Batch batch : loader.epoch(epoch)) {
                    List<Integer> tokens = ints(batch, "tokens");
                    List<Integer> steps = ints(batch, "steps");
                    for (int i = 0; i < batch.size(); i++) {
                        starts.add(tokens.get(5 * i));
                        assertThat(steps.get(30 * i)).isEqualTo(6 * tokens.get(5 * i));
                    }
                }
                assertThat(starts).hasSize(19);
                seen.addAll(starts);
                epochs.add(starts);
            }
            assertThat(epochs).hasSize(60);
            assertThat(seen).isEqualTo(allStartsWithin(5)); // 60 × 19 draws of 86 places
        }
    }

    private static Set<Integer> allStartsWithin(int length) {
        Set<Integer> all = new TreeSet<>();
        for (int i = 1; i < BORDERS.length; i++) {
            for (long start = BORDERS[i - 1]; start + length <= BORDERS[i]; start++) {
                all.add((int) start);
            }
        }
        return all;
    }

    @Test
    void anArrayOfTheDatasetMaySayWhereWindowsBegin() {
        try (Loader loader = loader(Field.window("tokens", 10).at("begins"));
                Loader late = loader(Field.window("tokens", 10).offset(1).at("begins"))) {
            assertThat(starts(loader.epoch(0), "tokens", 10)).containsExactly(90, 0, 91, 33);
            assertThatThrownBy(() -> late.epoch(0).forEach(batch -> {}))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("array=tokens")
                    .hasMessageContaining("sample=2")
                    .hasMessageContaining("row=92 rows=92");
        }
    }

    @Test
    void windowsAreTransformedAndUploadedAsRowsAre() {
        List<Long> sums = new ArrayList<>();
        for (Device device : new Device[] {null, new FakeDevice(), new FakeDevice()}) {
            LoaderBuilder builder = Loader.over(shelf.dataset)
                    .fields(
                            Field.window("pixels", 6)
                                    .stride(4)
                                    .transform(new Transform().toFloat().normalize(0.5f, 0.25f)),
                            Field.window("tokens", 6).stride(4),
                            Field.window("steps", 6).stride(4).transform(new Transform().randomFlip(0.5f)))
                    .shuffle(3)
                    .batchSize(5);
            if (device != null) {
                builder.device(device).deviceMode(sums.size() == 1 ? DeviceMode.RESIDENT : DeviceMode.STREAM);
            }
            try (Loader loader = builder.build()) {
                sums.add(Shelf.checksum(loader.epoch(2)));
            }
        }
        assertThat(new HashSet<>(sums)).hasSize(1);
    }

    @Test
    void whateverTheThreadsAndWhereverItStoppedAnEpochHasTheSameWindowsOnAnyNumberOfRanks() {
        System.err.println("seed=" + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 150; round++) {
            int length = 1 + random.nextInt(12);
            long stride = 1L + random.nextInt(9);
            long offset = random.nextInt(3);
            boolean anywhere = random.nextBoolean();
            boolean within = random.nextBoolean();
            int batch = 1 + random.nextInt(6);
            long epoch = random.nextInt(3);
            Field field = Field.window("tokens", length).stride(stride).offset(offset);
            Field chosen = within ? field.within("borders") : field;
            Field tokens = anywhere ? chosen.random() : chosen;
            Sampler sampler = random.nextBoolean() ? Sampler.permuted(round) : Sampler.random(round);

            List<List<Integer>> model = read(tokens, sampler, 1, batch, epoch, null, Integer.MAX_VALUE, 0).windows;
            int ranks = 1 + random.nextInt(3);
            Part before = read(tokens, sampler, ranks, batch, epoch, null, random.nextInt(4), random.nextInt(4));
            List<List<Integer>> all = new ArrayList<>(before.windows);
            if (before.state == null || !before.state.isEpochDone()) {
                all.addAll(
                        read(tokens, sampler, 1 + random.nextInt(3), batch, epoch, before.state, Integer.MAX_VALUE, 0)
                                .windows);
            }
            assertThat(all).as("case %d of seed %d: %s", round, seed, tokens).isEqualTo(model);
            for (List<Integer> window : model) {
                int first = window.get(0);
                assertThat(window)
                        .isEqualTo(
                                IntStream.range(first, first + length).boxed().toList());
                assertThat(first - offset).isGreaterThanOrEqualTo(0);
                if (!within) {
                    assertThat(first + length).isLessThanOrEqualTo(TOKENS);
                }
            }
        }
    }

    private record Part(
            List<List<Integer>> windows, @Nullable LoaderState state) {}

    /** Reads some batches with all ranks in step, and puts what counts in the global order. */
    private Part read(
            Field field,
            Sampler sampler,
            int world,
            int batchSize,
            long epoch,
            @Nullable LoaderState from,
            int steps,
            int threads) {
        List<List<List<Integer>>> read = new ArrayList<>();
        LoaderState state = from;
        for (int rank = 0; rank < world; rank++) {
            List<List<Integer>> own = new ArrayList<>();
            try (Loader loader = Loader.over(shelf.dataset)
                    .fields(field)
                    .sampler(sampler)
                    .seed(5)
                    .shard(Shard.of(rank, world))
                    .batchSize(batchSize)
                    .threads(threads)
                    .build()) {
                int step = 0;
                Epoch visited = from == null ? loader.epoch(epoch) : loader.resume(from);
                for (var batches = visited.iterator(); step < steps && batches.hasNext(); step++) {
                    Batch batch = batches.next();
                    List<Integer> values = ints(batch, "tokens");
                    int length = batch.size() == 0 ? 0 : values.size() / batch.size();
                    for (int i = 0; i < batch.validSize(); i++) {
                        own.add(values.subList(i * length, (i + 1) * length));
                    }
                    state = batch.stateAfter();
                }
            }
            read.add(own);
        }
        List<List<Integer>> windows = new ArrayList<>();
        for (int i = 0; i < read.get(0).size(); i++) {
            for (List<List<Integer>> own : read) {
                if (i < own.size()) {
                    windows.add(own.get(i));
                }
            }
        }
        return new Part(windows, state);
    }

    @Test
    void stateOfOtherWindowsIsRefused() {
        try (Loader loader = loader(Field.window("tokens", 8));
                Loader longer = loader(Field.window("tokens", 9))) {
            LoaderState state = loader.epoch(0).iterator().next().stateAfter();

            assertThat(state.sampler()).isEqualTo("sequential of windows(span=8 stride=8)");
            assertThatThrownBy(() -> longer.resume(state))
                    .hasMessageContaining("span=8")
                    .hasMessageContaining("span=9");
        }
    }

    @Test
    void whatCannotBeCutIntoWindowsIsRefusedByName() {
        assertThatThrownBy(() -> loader(Field.window("tokens", 102)))
                .hasMessageContaining("dataset=shelf")
                .hasMessageContaining("array=tokens")
                .hasMessageContaining("rows=101 span=102");
        assertThatThrownBy(() -> loader(Field.window("tokens", 5), Field.window("short", 5)))
                .hasMessageContaining("arrays of windows differ in rows")
                .hasMessageContaining("tokens=101 short=100");
        assertThatThrownBy(() -> loader(Field.window("tokens", 5).within("spoiled")))
                .hasMessageContaining("borders=spoiled row=2 value=40 before=50");
        assertThatThrownBy(() -> loader(Field.window("tokens", 60).within("borders")))
                .hasMessageContaining("no room for a window");
        assertThatThrownBy(() -> loader(Field.window("tokens", 5).within("steps")))
                .hasMessageContaining("array=steps");
        assertThatThrownBy(() -> loader(Field.window("tokens", 5), Field.window("steps", 6)))
                .hasMessageContaining("stride=5")
                .hasMessageContaining("stride=6");
        assertThatThrownBy(() -> loader(Field.window("tokens", 5), Field.rows("steps")))
                .hasMessageContaining("windows=20 steps=101");
        assertThatThrownBy(() -> Field.rows("tokens").stride(3)).hasMessageContaining("stride is for windows");
        assertThatThrownBy(() -> Field.window("tokens", 0)).hasMessageContaining("length=0");
    }

    private static List<Integer> starts(Epoch epoch, String name, int length) {
        List<Integer> starts = new ArrayList<>();
        for (Batch batch : epoch) {
            List<Integer> values = ints(batch, name);
            for (int i = 0; i < batch.size(); i++) {
                List<Integer> window = values.subList(i * length, (i + 1) * length);
                assertThat(window)
                        .isEqualTo(IntStream.range(window.get(0), window.get(0) + length)
                                .boxed()
                                .toList());
                starts.add(window.get(0));
            }
        }
        return starts;
    }

    private static List<Integer> ints(Batch batch, String name) {
        var ints = batch.array(name).byteBuffer().asIntBuffer();
        return IntStream.range(0, ints.remaining()).mapToObj(ints::get).toList();
    }
}
