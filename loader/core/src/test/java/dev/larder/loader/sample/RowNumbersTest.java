package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.BytesBuilder;
import dev.larder.internal.column.RaggedBuilder;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.npy.Dtype;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Labels and lengths. */
class RowNumbersTest {
    @Test
    void classesCountInTheOrderOfTheirLabels() {
        Labels labels = Labels.of(7, -1, 7, 1L << 60, 7);

        assertThat(labels.rows()).isEqualTo(5);
        assertThat(labels.classes()).isEqualTo(3);
        assertThat(IntStream.range(0, 3).mapToLong(labels::label)).containsExactly(-1L, 7L, 1L << 60);
        assertThat(IntStream.range(0, 3).mapToLong(labels::count)).containsExactly(1L, 3L, 1L);
        assertThat(IntStream.range(0, 5).map(labels::classOf)).containsExactly(1, 0, 1, 2, 1);
    }

    @Test
    void veryManyDifferentLabelsAreToldApart() {
        Labels labels = Labels.of(IntStream.range(0, 10_000).map(row -> -row).toArray());

        assertThat(labels.classes()).isEqualTo(10_000);
        assertThat(labels.classOf(9_999)).isZero();
        assertThat(labels.label(0)).isEqualTo(-9_999);
    }

    @Test
    void balancingWeightsMakeClassesEquallyLikelyAndAreOneOnAverage() {
        assertThat(Labels.of(5, 5, 5, 9).balancingWeights()).containsExactly(2 / 3.0, 2 / 3.0, 2 / 3.0, 2.0);
        assertThat(Labels.of(new int[0]).balancingWeights()).isEmpty();
    }

    @Test
    void classesWithoutARowInASubsetAreGone() {
        Labels labels = Labels.of(3, 1, 2, 3).over(Subset.of(3, 2));

        assertThat(labels.classes()).isEqualTo(2);
        assertThat(labels.label(labels.classOf(0))).isEqualTo(3);
        assertThatThrownBy(() -> labels.over(Subset.of(2))).isInstanceOf(LarderException.class);
    }

    @Test
    void labelsAndLengthsAreReadFromArraysOfTheDataset() {
        Map<String, FixtureArray> arrays = Map.of(
                "labels", FixtureArray.bytes(new byte[] {3, (byte) 255, 3}, 3),
                "lengths", FixtureArray.longs(new long[] {5, 0, 7}, 3));
        try (StoreFixture store = StoreFixture.create()) {
            store.publish("sounds", arrays);
            try (Larder larder = Larder.connect(store.store());
                    Dataset dataset = larder.dataset("sounds")) {
                Labels labels = Labels.of(dataset.array("labels"));
                assertThat(labels.label(labels.classOf(1))).isEqualTo(255);
                Lengths lengths = Lengths.of(dataset.array("lengths"));
                assertThat(IntStream.range(0, 3).map(lengths::length)).containsExactly(5, 0, 7);
            }
        }
    }

    @Test
    void lengthsOfARaggedColumnAreItsFirstDimensions() {
        try (StoreFixture store = StoreFixture.create();
                RaggedBuilder rows = new RaggedBuilder(Dtype.parse("|u1"), 2)) {
            rows.add(ByteBuffer.allocate(6), 3, 2);
            rows.add(ByteBuffer.allocate(2), 1, 2);
            store.publish("scenes", rows.arrays("points"));
            try (Larder larder = Larder.connect(store.store());
                    Dataset dataset = larder.dataset("scenes")) {
                Lengths lengths = Lengths.of(dataset.ragged("points"));
                assertThat(IntStream.range(0, 2).map(lengths::length)).containsExactly(3, 1);
            }
        }
    }

    @Test
    void lengthsOfTextsAndFilesAreTheirBytes() {
        try (StoreFixture store = StoreFixture.create();
                StringsBuilder texts = new StringsBuilder();
                BytesBuilder files = new BytesBuilder();
                RaggedBuilder numbers = new RaggedBuilder(Dtype.parse("|u1"), 0)) {
            texts.add("größe");
            files.add(ByteBuffer.allocate(9));
            numbers.add(ByteBuffer.allocate(1));
            store.publish("texts", texts.arrays("texts"));
            store.publish("files", files.arrays("files"));
            store.publish("numbers", numbers.arrays("numbers"));
            try (Larder larder = Larder.connect(store.store());
                    Dataset ofTexts = larder.dataset("texts");
                    Dataset ofFiles = larder.dataset("files");
                    Dataset ofNumbers = larder.dataset("numbers")) {
                assertThat(Lengths.of(ofTexts.strings("texts")).length(0)).isEqualTo(7);
                assertThat(Lengths.of(ofFiles.bytes("files")).length(0)).isEqualTo(9);
                assertThatThrownBy(() -> Lengths.of(ofNumbers.ragged("numbers")))
                        .hasMessageContaining("rows of a ragged column have no dimensions: column=numbers");
            }
        }
    }

    @Test
    void rowsBeyondTheLastHaveNoNumber() {
        for (long row : new long[] {-1, 2}) {
            assertThatThrownBy(() -> Labels.of(1, 2).classOf(row)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> Lengths.of(1, 2).length(row)).isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThatThrownBy(() -> Lengths.of(1, 2).over(Subset.of(2))).isInstanceOf(LarderException.class);
    }

    @Test
    void arraysThatAreNotOneWholeNumberARowAreRefused() {
        Map<String, FixtureArray> arrays = Map.of(
                "floats", FixtureArray.floats(new float[] {1, 2}, 2), "table", FixtureArray.ints(new int[4], 2, 2));
        try (StoreFixture store = StoreFixture.create()) {
            store.publish("odd", arrays);
            try (Larder larder = Larder.connect(store.store());
                    Dataset dataset = larder.dataset("odd")) {
                assertThatThrownBy(() -> Labels.of(dataset.array("floats")))
                        .isInstanceOf(LarderException.class)
                        .hasMessageContaining("array=floats dtype=<f4");
                assertThatThrownBy(() -> Lengths.of(dataset.array("table"))).hasMessageContaining("array=table");
            }
        }
    }

    @Test
    void lengthsThatAreNoneAreRefusedWithTheirRow() {
        for (long length : new long[] {-1, 1L << 31}) {
            assertThatThrownBy(() -> Lengths.of(0, length))
                    .isInstanceOfSatisfying(
                            LarderException.class,
                            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining("row=1 length=" + length);
        }
    }
}
