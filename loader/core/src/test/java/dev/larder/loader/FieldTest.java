package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.RaggedBuilder;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Sampler;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FieldTest {
    private Scenes scenes = Scenes.open();

    private Loader loader(int batch, Field... fields) {
        return Loader.over(scenes.dataset).fields(fields).batchSize(batch).build();
    }

    @Test
    void raggedRowsArePaddedToTheLongestOfTheBatchAndTheMaskSaysWhatIsPadding() {
        try (Loader loader = loader(4, Field.padded("words"))) {
            Iterator<Batch> batches = loader.epoch(0).iterator();

            Batch first = batches.next(); // lengths 0 1 2 3
            assertThat(first.array("words").shape()).containsExactly(4, 3);
            assertThat(ints(first, "words")).containsExactly(0, 0, 0, 1, 0, 0, 2, 3, 0, 3, 4, 5);
            assertThat(bytes(first, "words.mask")).containsExactly(0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1);
            assertThat(batches.next().array("words").shape()).containsExactly(4, 4); // lengths 4 0 1 2
        }
    }

    @Test
    void paddingMayStandAtTheLeftHaveAMultipleAndANumberOfItsOwn() {
        try (Loader loader = loader(
                4, Field.padded("words").padLeft().toMultipleOf(4).fillValue(-1).as("w"))) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThat(ints(batch, "w")).containsExactly(-1, -1, -1, -1, -1, -1, -1, 1, -1, -1, 2, 3, -1, 3, 4, 5);
            assertThat(bytes(batch, "w.mask")).containsExactly(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1);
        }
    }

    @Test
    void rowsOfMoreDimensionsArePaddedAlongTheFirst() {
        try (Loader loader = loader(3, Field.padded("boxes"))) {
            Batch batch = loader.epoch(0).iterator().next(); // [1, 2] [2, 2] [3, 2]

            assertThat(batch.array("boxes").shape()).containsExactly(3, 3, 2);
            assertThat(batch.array("boxes").byteBuffer().asFloatBuffer().get(6)).isEqualTo(1.5f);
            assertThat(batch.array("boxes").byteBuffer().asFloatBuffer().get(10))
                    .isZero();
            assertThat(bytes(batch, "boxes.mask")).containsExactly(1, 0, 0, 1, 1, 0, 1, 1, 1);
        }
    }

    @Test
    void longRowsMayBeCut() {
        try (Loader loader = loader(
                5,
                Field.packed("words").truncate(2),
                Field.padded("words").truncate(2).as("padded"))) {
            Batch batch = loader.epoch(0).iterator().next(); // lengths 0 1 2 3 4

            assertThat(ints(batch, "words")).containsExactly(1, 2, 3, 3, 4, 4, 5);
            assertThat(batch.array("padded").shape()).containsExactly(5, 2);
        }
    }

    @Test
    void packedRowsLieBackToBackAndOffsetsPartThem() {
        try (Loader loader = loader(5, Field.packed("words"), Field.packed("boxes"))) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThat(ints(batch, "words")).containsExactly(1, 2, 3, 3, 4, 5, 4, 5, 6, 7);
            assertThat(longs(batch, "words.offsets")).containsExactly(0L, 0L, 1L, 3L, 6L, 10L);
            assertThat(batch.array("boxes").shape()).containsExactly(9, 2);
            assertThat(longs(batch, "boxes.offsets")).containsExactly(0L, 1L, 3L, 6L, 7L, 9L);
        }
    }

    @Test
    void textsComeAsUtf8() {
        try (Loader loader = loader(60, Field.texts("question"))) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            batches.next();
            Batch last = batches.next();

            assertThat(last.text("question", 39)).isEqualTo("question 99 é");
            assertThat(last.array("question.offsets").shape()).containsExactly(41);
            assertThatThrownBy(() -> last.text("question", 40)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 3", "3, 4"})
    void rowsOfAnotherLengthAreFoundThroughTheKeyOfTheSample(int threads, int depth) {
        try (Loader loader = Loader.over(scenes.dataset)
                .fields(Field.rows("labels"), Field.rows("feat").lookup("scene", "scenes"))
                .fields(Field.rows("feat").at("feat_row").as("same"))
                .shuffle(5)
                .threads(threads)
                .prefetch(depth)
                .batchSize(8)
                .build()) {
            for (long epoch = 0; epoch < 3; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    List<Integer> expected = Shelf.labels(batch).stream()
                            .flatMap(row -> IntStream.of(1, 1, 1).mapToObj(i -> row % Scenes.SCENES * 10))
                            .toList();
                    assertThat(ints(batch, "feat")).isEqualTo(expected);
                    assertThat(ints(batch, "same")).isEqualTo(expected);
                }
            }
        }
    }

    @Test
    void allKindsTogetherAreTheSameWhateverTheThreadsAndTheDepth() {
        long expected = checksum(0, 1, 16);
        for (int threads = 1; threads <= 8; threads++) {
            assertThat(checksum(threads, 1 + threads % 4, 16)).isEqualTo(expected);
        }
    }

    private long checksum(int threads, int depth, int batch) {
        try (Loader loader = Loader.over(scenes.dataset)
                .fields(Field.padded("words"), Field.packed("boxes"), Field.texts("question"), Field.rows("labels"))
                .fields(Field.rows("feat").lookup("scene", "scenes"))
                .shuffle(11)
                .threads(threads)
                .prefetch(depth)
                .batchSize(batch)
                .build()) {
            return Shelf.checksum(loader.epoch(2));
        }
    }

    @Test
    void keyThatTheIndexDoesNotHaveFailsTheBatchAndIsNamed() {
        useScenesIndexedBelow(5);
        try (Loader loader = loader(4, Field.rows("feat").lookup("scene", "scenes"))) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            batches.next();

            assertThatThrownBy(batches::next)
                    .hasMessageContaining("cannot find the row of a sample: dataset=scenes version=1 stage=plan")
                    .hasMessageContaining("key=scene5")
                    .hasMessageContaining("array=feat sample=5 position=5")
                    .satisfies(e -> assertThat(((LarderException) e).code()).isEqualTo(ErrorCode.NOT_FOUND));
        }
    }

    @Test
    void samplesWithoutAKeyMayBeLeftOut() {
        useScenesIndexedBelow(5);
        try (Loader loader = Loader.over(scenes.dataset)
                .fields(Field.rows("feat").lookup("scene", "scenes"), Field.rows("labels"), Field.padded("words"))
                .onFailure(FailurePolicy.skip(28))
                .batchSize(10)
                .build()) {
            List<Integer> read = Shelf.flat(Shelf.labels(loader.epoch(0)));

            assertThat(read).hasSize(72).allMatch(row -> row % Scenes.SCENES < 5);
            assertThat(loader.stats().skippedSamples()).isEqualTo(28);
        }
    }

    @Test
    void tooManySamplesLeftOutFail() {
        useScenesIndexedBelow(5);
        try (Loader loader = Loader.over(scenes.dataset)
                .fields(Field.rows("feat").lookup("scene", "scenes"))
                .onFailure(FailurePolicy.skip(27))
                .batchSize(10)
                .build()) {
            assertThatThrownBy(() -> loader.epoch(0).forEach(batch -> {}))
                    .hasMessageContaining("too many samples cannot be read")
                    .hasMessageContaining("maxSkipped=27");
            assertThatThrownBy(() -> loader.epoch(1).forEach(batch -> {})).isInstanceOf(LarderException.class);
        }
    }

    @Test
    void fieldsThatDoNotFitTogetherAreRefused() {
        assertThatThrownBy(() -> loader(4, Field.rows("labels"), Field.rows("feat")))
                .hasMessageContaining("arrays of one loader differ in rows")
                .hasMessageContaining("labels=100 feat=7");
        assertThatThrownBy(() ->
                        loader(4, Field.rows("labels"), Field.packed("words").as("labels")))
                .hasMessageContaining("named twice");
        assertThatThrownBy(() -> loader(4, Field.rows("feat").at("feat")))
                .hasMessageContaining("name a 1-d array of whole numbers");
        assertThatThrownBy(() -> loader(4, Field.padded("words").fillValue(0.5)))
                .hasMessageContaining("cannot pad with this number: filler=0.5 dtype=<i4");
        assertThatThrownBy(() -> Field.packed("words").padLeft()).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void rowOfAnotherShapeFailsWhereItIsReadAndMayBeLeftOut() {
        RaggedBuilder rows = new RaggedBuilder(Dtype.parse("|u1"), 2);
        for (int row = 0; row < 20; row++) {
            int width = row == 5 ? 3 : 2;
            rows.add(ByteBuffer.allocateDirect(width), 1, width);
        }
        try (StoreFixture store = StoreFixture.create();
                Larder larder = open(store, rows);
                Dataset dataset = larder.dataset("odd")) {
            try (Loader loader = Loader.over(dataset)
                    .fields(Field.padded("rows"))
                    .batchSize(10)
                    .build()) {
                assertThatThrownBy(() -> loader.epoch(0).iterator().next())
                        .hasMessageContaining("array=rows sample=5 position=5");
            }
            LoaderBuilder skipping =
                    Loader.over(dataset).fields(Field.padded("rows")).onFailure(FailurePolicy.skip(1));
            try (Loader loader = skipping.batchSize(10).build()) {
                assertThat(loader.epoch(0).iterator().next().size()).isEqualTo(9);
            }
        }
    }

    private static Larder open(StoreFixture store, RaggedBuilder rows) {
        store.publish("odd", rows.arrays("rows"));
        return Larder.connect(store.store());
    }

    @Test
    void batchesOfAnySizeTakeNoMoreMemoryThanTheyNeed() {
        long rowBytes = 40L << 20; // 64 of them would be too long for one array of a batch
        try (StoreFixture store = StoreFixture.create()) {
            store.publishSparse("big", "volumes", NpyHeader.of(Dtype.parse("|u1"), Order.C, 4, rowBytes), Map.of());
            try (Larder larder = Larder.connect(store.store());
                    Dataset dataset = larder.dataset("big");
                    Loader loader = Loader.over(dataset)
                            .batches(BatchSampler.of(Sampler.sequential(), 1, false))
                            .prefetch(1)
                            .build()) {
                assertThat(loader.epoch(0).iterator().next().array(0).shape()).containsExactly(1, rowBytes);
            }
        }
    }

    private void useScenesIndexedBelow(int scene) {
        scenes.close();
        scenes = Scenes.indexedBelow(scene);
    }

    @AfterEach
    void close() {
        scenes.close();
        assertThat(Shelf.gatherThreads()).isZero();
    }

    private static List<Integer> ints(Batch batch, String array) {
        List<Integer> values = new ArrayList<>();
        ByteBuffer bytes = batch.array(array).byteBuffer();
        while (bytes.hasRemaining()) {
            values.add(bytes.getInt());
        }
        return values;
    }

    private static List<Long> longs(Batch batch, String array) {
        List<Long> values = new ArrayList<>();
        ByteBuffer bytes = batch.array(array).byteBuffer();
        while (bytes.hasRemaining()) {
            values.add(bytes.getLong());
        }
        return values;
    }

    private static List<Integer> bytes(Batch batch, String array) {
        List<Integer> values = new ArrayList<>();
        ByteBuffer bytes = batch.array(array).byteBuffer();
        while (bytes.hasRemaining()) {
            values.add((int) bytes.get());
        }
        return values;
    }
}
