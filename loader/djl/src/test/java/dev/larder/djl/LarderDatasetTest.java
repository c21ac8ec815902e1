package dev.larder.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.training.util.ProgressBar;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.RaggedBuilder;
import dev.larder.loader.FailurePolicy;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderState;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@EnabledIfSystemProperty(named = "os.arch", matches = "amd64")
class LarderDatasetTest {
    private final NDManager manager = NDManager.newBaseManager(Device.cpu(), "PyTorch");
    private final Shelf shelf = Shelf.ofSamples(10);

    @AfterEach
    void close() {
        manager.close();
        shelf.close();
    }

    @Test
    void handsOutDataAndLabelsByName() {
        try (Loader loader = shelf.loader().build();
                Batch batch = first(new LarderDataset(loader, "images", "labels"))) {
            NDArray images = batch.getData().singletonOrThrow();
            NDArray labels = batch.getLabels().singletonOrThrow();

            assertThat(images.getShape()).isEqualTo(new Shape(4, 2, 3));
            assertThat(images.getName()).isEqualTo("images");
            assertThat(images.get("2,:").toFloatArray()).containsOnly(2f).hasSize(6);
            assertThat(labels.toIntArray()).containsExactly(0, 1, 2, 3);
            assertThat(batch.getSize()).isEqualTo(4);
        }
    }

    @Test
    void takesSeveralArraysAndNoLabels() {
        try (Loader loader = shelf.loader().build();
                Batch batch = first(new LarderDataset(loader, List.of("labels", "images"), List.of()))) {
            assertThat(batch.getData()).extracting(NDArray::getName).containsExactly("labels", "images");
            assertThat(batch.getLabels()).isEmpty();
        }
    }

    @Test
    void namesOfArraysThatTheLoaderDoesNotReadAreRefused() {
        try (Loader loader = shelf.loader().build()) {
            LarderDataset dataset = new LarderDataset(loader, "pictures", "labels");

            assertThatThrownBy(() -> first(dataset))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("array=pictures arrays=[images, labels]");
            assertThatThrownBy(() -> new LarderDataset(loader, List.of(), List.of("labels")))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void theArraysAreTheSlotItself() {
        try (Loader loader = shelf.loader().build();
                LarderBatch batch = first(new LarderDataset(loader, "images", "labels"))) {
            batch.getData().get(0).addi(100);

            assertThat(batch.source().array("images").byteBuffer().getFloat(4 * 6))
                    .isEqualTo(101f);
        }
    }

    @Test
    void aBatchKnowsItsRowsAndHowFarTheEpochHasCome() {
        try (Loader loader = shelf.loader().shuffle(42).build()) {
            List<Long> rows = new ArrayList<>();
            List<Long> progress = new ArrayList<>();
            for (Batch batch : new LarderDataset(loader, "images", "labels").getData(manager)) {
                batch.getIndices().forEach(row -> rows.add((Long) row));
                progress.add(batch.getProgress());
                assertThat(batch.getProgressTotal()).isEqualTo(10);
                assertThat(batch.getLabels().get(0).toIntArray())
                        .containsExactly(batch.getIndices().stream()
                                .mapToInt(row -> ((Long) row).intValue())
                                .toArray());
                batch.close();
            }

            assertThat(rows).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
            assertThat(progress).containsExactly(4L, 8L, 10L);
        }
    }

    @Test
    void everyIterationIsTheNextEpoch() {
        try (Loader loader = shelf.loader().shuffle(1).build()) {
            LarderDataset dataset = new LarderDataset(loader, "images", "labels");

            assertThat(epochs(dataset)).containsOnly(0L);
            assertThat(epochs(dataset)).containsOnly(1L);
            assertThat(epochs(dataset.startAt(7))).containsOnly(7L);
            assertThat(epochs(dataset)).containsOnly(8L);
            assertThat(dataset.size()).isEqualTo(10);
        }
    }

    @Test
    void goesOnWhereAnEarlierRunStopped() {
        try (Loader loader = shelf.loader().shuffle(1).build()) {
            LarderDataset dataset = new LarderDataset(loader, "images", "labels").startAt(3);
            List<Integer> whole = labels(dataset);
            LoaderState state;
            try (LarderBatch batch = first(dataset.startAt(3))) {
                state = batch.source().stateAfter();
            }

            assertThat(labels(dataset.resume(state))).isEqualTo(whole.subList(4, 10));
            assertThat(epochs(dataset)).containsOnly(4L);
        }
    }

    @Test
    void closingBatchesGivesTheirSlotsBack() {
        try (Loader loader = shelf.loader().prefetch(2).build()) {
            LarderDataset dataset = new LarderDataset(loader, "images", "labels");
            for (int epoch = 0; epoch < 50; epoch++) {
                @Nullable Batch before = null;
                for (Batch batch : dataset.getData(manager)) {
                    close(before);
                    before = batch;
                }
                close(before);
            }

            assertThat(loader.stats().batches()).isEqualTo(150);
        }
    }

    @Test
    void closingTheManagerGivesSlotsBack() {
        try (Loader loader = shelf.loader().prefetch(1).build()) {
            LarderDataset dataset = new LarderDataset(loader, "images", "labels");
            LarderBatch forgotten;
            try (NDManager own = manager.newSubManager()) {
                forgotten = (LarderBatch) dataset.getData(own).iterator().next();
                assertThat(forgotten.source().isOpen()).isTrue();
            }

            assertThat(forgotten.source().isOpen()).isFalse();
            assertThat(labels(dataset)).hasSize(10);
        }
    }

    @Test
    void tooManyOpenBatchesAreADeadlineThatSaysSo() {
        try (Loader loader =
                shelf.loader().prefetch(2).timeout(Duration.ofMillis(50)).build()) {
            Iterator<Batch> batches = new LarderDataset(loader, "images", "labels")
                    .getData(manager)
                    .iterator();
            Batch one = batches.next();
            batches.next();

            assertThatThrownBy(batches::hasNext)
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE))
                    .hasMessageContaining("openBatches=2");
            one.close();
            assertThat(batches.next().getLabels().get(0).toIntArray()).containsExactly(8, 9);
        }
    }

    @Test
    void aBatchCanBeClosedTwiceAndAfterItsLoader() {
        Batch late;
        try (Loader loader = shelf.loader().build()) {
            LarderDataset dataset = new LarderDataset(loader, "images", "labels");
            Batch twice = first(dataset);
            twice.close();
            assertThatCode(twice::close).doesNotThrowAnyException();
            late = first(dataset);
        }

        assertThat(late.getLabels().get(0).toIntArray()).hasSize(4); // its memory is still there
        late.close();
    }

    @Test
    void aLoopThatIsLeftEarlyHoldsNothing() {
        try (Loader loader = shelf.loader().prefetch(1).build()) {
            LarderDataset dataset = new LarderDataset(loader, "images", "labels");
            for (int i = 0; i < 20; i++) {
                Iterator<Batch> batches = dataset.getData(manager).iterator();
                batches.next().close();
                assertThat(batches.hasNext()).isTrue(); // and nobody takes it
            }
            Iterator<Batch> ended = dataset.getData(manager).iterator();

            assertThat(epochs(dataset)).containsOnly(21L);
            assertThatThrownBy(ended::next).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void whatFailsInTheLoaderFailsTheLoop() {
        try (Loader loader = shelf.loader()
                .transform("images", new Transform().map((values, shape, random) -> requireSmall(values)))
                .build()) {
            LarderDataset dataset = new LarderDataset(loader, "images", "labels");

            assertThatThrownBy(() -> labels(dataset))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("array=images")
                    .hasRootCauseMessage("too large");
        }
    }

    @Test
    void batchesWithoutAnySampleAreLeftOut() {
        try (Loader loader = shelf.loader()
                .batchSize(1)
                .transform("images", new Transform().map((values, shape, random) -> requireSmall(values)))
                .onFailure(FailurePolicy.skip(10))
                .build()) {
            assertThat(labels(new LarderDataset(loader, "images", "labels"))).containsExactly(0, 1, 2, 3, 4, 5, 6);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "|b1,BOOLEAN,1",
        "|i1,INT8,1",
        "|u1,UINT8,1",
        "<i4,INT32,4",
        "<i8,INT64,8",
        "<f2,FLOAT16,2",
        "<f4,FLOAT32,4",
        "<f8,FLOAT64,8"
    })
    void typesThatBothHaveAreHandedOver(String dtype, DataType expected, int bytes) {
        try (Shelf typed = typed(dtype, bytes);
                Loader loader = Loader.over(typed.dataset).batchSize(3).build();
                Batch batch = first(new LarderDataset(loader, List.of("x"), List.of()))) {
            assertThat(batch.getData().get(0).getDataType()).isEqualTo(expected);
            assertThat(batch.getData().get(0).getShape()).isEqualTo(new Shape(3, 2));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {">f4", ">i8", "<c8", "<c16", "|S4", "<U1", "<M8[s]", "<i2", "<u2", "<u4", "<u8"})
    void otherTypesAreRefusedWithWhatToDo(String dtype) {
        int bytes = Dtype.parse(dtype).itemSize();
        try (Shelf typed = typed(dtype, bytes);
                Loader loader = Loader.over(typed.dataset).batchSize(3).build()) {
            LarderDataset dataset = new LarderDataset(loader, List.of("x"), List.of());

            assertThatThrownBy(() -> first(dataset))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining("array=x dtype=" + dtype)
                    .hasMessageContaining("new Transform().cast");
        }
    }

    @Test
    void raggedRowsComePaddedOrBackToBackEvenWhereNoneHasAnItem() {
        try (Shelf ragged = Shelf.of(words());
                Loader loader = Loader.over(ragged.dataset)
                        .fields(Field.padded("words"), Field.packed("words").as("packed"))
                        .batchSize(2)
                        .build()) {
            List<Shape> shapes = new ArrayList<>();
            for (Batch batch :
                    new LarderDataset(loader, List.of("words", "packed"), List.of("words.mask")).getData(manager)) {
                batch.getData().forEach(array -> shapes.add(array.getShape()));
                assertThat(batch.getLabels().get(0).getDataType()).isEqualTo(DataType.BOOLEAN);
                batch.close();
            }

            assertThat(shapes).containsExactly(new Shape(2, 0), new Shape(0), new Shape(2, 3), new Shape(5));
        }
    }

    @Test
    void batchesAreSplitOverDevicesAsAnyOther() {
        try (Loader loader = shelf.loader().build();
                Batch batch = first(new LarderDataset(loader, "images", "labels"))) {
            Batch[] parts = batch.split(new Device[] {Device.cpu(), Device.cpu()}, false);

            assertThat(parts).hasSize(2);
            assertThat(parts[1].getLabels().get(0).toIntArray()).containsExactly(2, 3);
        }
    }

    @Test
    void preparingShowsThatNothingIsLeftToDo() {
        try (Loader loader = shelf.loader().build()) {
            LarderDataset dataset = new LarderDataset(loader, "images", "labels");

            dataset.prepare(null);
            dataset.prepare(new ProgressBar());

            assertThat(dataset).hasToString("LarderDataset{data [images] labels [labels] of " + loader + "}");
        }
    }

    private static void requireSmall(float[] values) {
        if (values[0] > 6) {
            throw new IllegalStateException("too large");
        }
    }

    /** Makes a ragged column of rows with 0, 0, 2 and 3 items. */
    private static Map<String, FixtureArray> words() {
        RaggedBuilder words = new RaggedBuilder(Dtype.parse("<i4"), 1);
        for (long length : new long[] {0, 0, 2, 3}) {
            words.add(ByteBuffer.allocateDirect((int) length * Integer.BYTES), length);
        }
        Map<String, FixtureArray> arrays = new HashMap<>();
        words.arrays("words").forEach(array -> arrays.put(array.name(), FixtureArray.of(array)));
        return arrays;
    }

    private static Shelf typed(String dtype, int bytes) {
        return Shelf.of(Map.of("x", FixtureArray.of(dtype, Order.C, new byte[3 * 2 * bytes], 3, 2)));
    }

    private LarderBatch first(LarderDataset dataset) {
        return (LarderBatch) dataset.getData(manager).iterator().next();
    }

    private List<Integer> labels(LarderDataset dataset) {
        List<Integer> labels = new ArrayList<>();
        for (Batch batch : dataset.getData(manager)) {
            for (int label : batch.getLabels().get(0).toIntArray()) {
                labels.add(label);
            }
            batch.close();
        }
        return labels;
    }

    private List<Long> epochs(LarderDataset dataset) {
        List<Long> epochs = new ArrayList<>();
        for (Batch batch : dataset.getData(manager)) {
            epochs.add(((LarderBatch) batch).source().epoch());
            batch.close();
        }
        return epochs;
    }

    private static void close(@Nullable Batch batch) {
        if (batch != null) {
            batch.close();
        }
    }
}
