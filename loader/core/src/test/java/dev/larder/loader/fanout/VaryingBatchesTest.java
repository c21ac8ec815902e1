package dev.larder.loader.fanout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.BytesBuilder;
import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.RaggedBuilder;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.loader.Batch;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.sample.Buckets;
import dev.larder.loader.sample.Lengths;
import dev.larder.loader.sample.TokenBudget;
import dev.larder.npy.Dtype;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.Rounds;
import dev.larder.testing.StoreFixture;
import dev.larder.testing.TinyTmpfs;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows of log-normal lengths, in every way in which a loader makes batches of them, through a ring. */
@Tag("races")
class VaryingBatchesTest {
    private static final int ROWS = 200;
    private static final int BATCH = 16;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final StoreFixture store = StoreFixture.create();
    private final Larder larder = Larder.connect(store.store());

    @AfterEach
    void closeStore() {
        larder.close();
        store.close();
    }

    /** Publishes a ragged column, texts and raw bytes of the same random lengths. */
    private Dataset publish(long seed) {
        Random random = new Random(seed);
        RaggedBuilder words = new RaggedBuilder(Dtype.parse("<i4"), 1);
        StringsBuilder texts = new StringsBuilder();
        BytesBuilder files = new BytesBuilder();
        for (int row = 0; row < ROWS; row++) {
            int length = (int) Math.ceil(Math.exp(2 + 1.5 * random.nextGaussian()));
            byte[] noise = new byte[length * Integer.BYTES];
            random.nextBytes(noise);
            words.add(ByteBuffer.allocateDirect(noise.length).put(noise).flip(), length);
            texts.add("x".repeat(length));
            files.add(ByteBuffer.allocateDirect(noise.length).put(noise).flip());
        }
        Map<String, FixtureArray> arrays = new HashMap<>();
        List<ColumnArray> all = new ArrayList<>(words.arrays("words"));
        all.addAll(texts.arrays("texts"));
        all.addAll(files.arrays("files"));
        all.forEach(array -> arrays.put(array.name(), FixtureArray.of(array)));
        store.publish("noise" + seed, arrays);
        return larder.dataset("noise" + seed);
    }

    static Stream<Arguments> loaders() {
        return Stream.of(
                way(
                        "padded",
                        (data, seed) -> fields(data, Field.padded("words"))
                                .shuffle(seed)
                                .batchSize(BATCH)),
                way(
                        "packed",
                        (data, seed) -> fields(data, Field.packed("words"))
                                .shuffle(seed)
                                .batchSize(BATCH)),
                way(
                        "texts",
                        (data, seed) ->
                                fields(data, Field.texts("texts")).shuffle(seed).batchSize(BATCH)),
                way(
                        "files",
                        (data, seed) ->
                                fields(data, Field.files("files")).shuffle(seed).batchSize(BATCH)),
                way(
                        "buckets",
                        (data, seed) -> fields(data, Field.padded("words"))
                                .batches(Buckets.of(Lengths.of(data.ragged("words")))
                                        .bounds(10, 50)
                                        .batchSizes(32, 16, 4)
                                        .shuffle(seed))),
                way(
                        "texts by length",
                        (data, seed) -> fields(data, Field.texts("texts"))
                                .batches(TokenBudget.of(Lengths.of(data.strings("texts")))
                                        .maxTokens(4000)
                                        .shuffle(seed))),
                way(
                        "files by length",
                        (data, seed) -> fields(data, Field.files("files"))
                                .batches(Buckets.of(Lengths.of(data.bytes("files")))
                                        .bounds(40, 200)
                                        .batchSizes(32, 16, 4)
                                        .shuffle(seed))),
                way(
                        "token budget",
                        (data, seed) -> fields(data, Field.packed("words"))
                                .batches(TokenBudget.of(Lengths.of(data.ragged("words")))
                                        .maxTokens(4000)
                                        .shuffle(seed))));
    }

    private static Arguments way(String name, BiFunction<Dataset, Long, LoaderBuilder> way) {
        return arguments(name, way);
    }

    private static LoaderBuilder fields(Dataset data, Field field) {
        return Loader.over(data).fields(field);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("loaders")
    void batchesOfAnyLengthPassThroughARing(String name, BiFunction<Dataset, Long, LoaderBuilder> way) {
        Rounds rounds = Rounds.of("batches of any length", 8);
        for (int round = 0; round < rounds.count(); round++) {
            long seed = rounds.seed() + round;
            try (Dataset data = publish(seed);
                    Loader loader = way.apply(data, seed).build()) {
                assertThat(publishAndReadTwoEpochs(loader))
                        .as("%s, seed %d", name, seed)
                        .isEqualTo(batches(loader));
            }
        }
    }

    private List<String> publishAndReadTwoEpochs(Loader loader) {
        CompletableFuture<List<String>> seen;
        try (BatchPublisher publisher = publisher().open()) {
            seen = CompletableFuture.supplyAsync(this::readAll, task -> new Thread(task).start());
            publisher.publish(loader.epoch(0));
            publisher.publish(loader.epoch(1));
        }
        return seen.join();
    }

    private BatchPublisherBuilder publisher() {
        return BatchPublisher.of(larder, Gallery.RING).slots(3).consumers(1).timeout(TIMEOUT);
    }

    /** Reads a ring to its end, and returns what each batch was. */
    private List<String> readAll() {
        List<String> seen = new ArrayList<>();
        try (SharedBatches batches =
                SharedBatches.of(larder, Gallery.RING).timeout(TIMEOUT).attach()) {
            for (SharedBatch batch : batches) {
                CRC32C sum = new CRC32C();
                Gallery.add(batch, sum);
                seen.add(batch.epoch() + "/" + batch.number() + " size " + batch.size() + " " + sum.getValue());
            }
        }
        return seen;
    }

    private static List<String> batches(Loader loader) {
        List<String> batches = new ArrayList<>();
        for (long epoch = 0; epoch < 2; epoch++) {
            for (Batch batch : loader.epoch(epoch)) {
                CRC32C sum = new CRC32C();
                batch.arrays().forEach(array -> sum.update(array.byteBuffer()));
                batches.add(batch.epoch() + "/" + batch.number() + " size " + batch.size() + " " + sum.getValue());
            }
        }
        return batches;
    }

    @Test
    void aRingTakesTheMemoryOfItsBatchesAndNoMore() throws Exception {
        try (Gallery gallery = new Gallery(60, 5000, 1);
                Loader large = Loader.over(gallery.dataset)
                        .arrays("images", "labels")
                        .batchSize(60)
                        .build();
                BatchPublisher publisher = gallery.publisher().slots(4).open()) {
            publisher.publish(gallery.loader.epoch(0).iterator().next());
            Path ring = gallery.ring().resolve(RingDescriptor.RING);
            assertThat(storedBytes(ring)).isBetween(4 * 5000L, 4 * 12_288L);

            publisher.publish(large.epoch(0)); // one batch of all rows

            assertThat(storedBytes(ring)).isBetween(300_000L, 450_000L);
        }
    }

    @Test
    void aSlotThatFillsAGoodPartOfAHugePageHasItAlone() throws Exception {
        try (Gallery gallery = new Gallery(120, 5000, 120);
                BatchPublisher publisher = gallery.publisher().slots(4).open()) {
            publisher.publish(gallery.loader.epoch(0)); // one batch of 600,000 bytes

            long slots = 4L << 21;
            assertThat(storedBytes(gallery.ring().resolve(RingDescriptor.RING))).isBetween(slots, slots + 16_384);
        }
    }

    private static long storedBytes(Path file) throws Exception {
        Process du = new ProcessBuilder("du", "-B1", file.toString()).start();
        String size = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\t", 2)[0];
        return Long.parseLong(size);
    }

    @Test
    void aRingIsMadeWhereTheMountHasRoomForTheFirstBatchButNotForAQuarterMore() throws Exception {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=400k");
                Gallery gallery = new Gallery(100, 5000, 16)) { // 4 slots of 80 KiB, or of 100 KiB
            Files.createDirectory(tiny.folder().resolve("data"));
            try (Larder small = Larder.connect(tiny.folder());
                    BatchPublisher publisher =
                            BatchPublisher.of(small, "run1").slots(4).open()) {
                publisher.publish(gallery.loader.epoch(0));

                assertThat(publisher.published()).isEqualTo(7);
            }
        }
    }

    @Test
    void aBatchThatTheMountHasNoRoomForIsAnErrorAndTheRingStays() throws Exception {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=400k");
                Gallery gallery = new Gallery(100, 5000, 1);
                Loader large = Loader.over(gallery.dataset)
                        .arrays("images", "labels")
                        .batchSize(100)
                        .build()) {
            Files.createDirectory(tiny.folder().resolve("data"));
            try (Larder small = Larder.connect(tiny.folder());
                    BatchPublisher publisher =
                            BatchPublisher.of(small, "run1").slots(4).open()) {
                publisher.publish(gallery.loader.epoch(0).iterator().next());
                assertThatThrownBy(() -> publisher.publish(large.epoch(0)))
                        .isInstanceOfSatisfying(
                                LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                        .hasMessageContaining("not enough space for a ring: needed=");

                publisher.publish(gallery.loader.epoch(0));

                assertThat(publisher.published()).isEqualTo(101);
            }
        }
    }
}
