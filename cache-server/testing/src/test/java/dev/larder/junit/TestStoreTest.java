package dev.larder.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(LeavesNothingBehind.class)
class TestStoreTest {
    private final TestStore store = TestStore.start();

    @AfterEach
    void close() {
        store.close();
        store.close();
        assertThat(store.path()).doesNotExist();
    }

    @Test
    void numbersKeepTheirTypesShapesAndValues() {
        store.publish(
                "d",
                Map.of(
                        "bytes", new byte[][] {{1, -1}},
                        "ints", new int[] {Integer.MIN_VALUE, 7},
                        "longs", new long[][][] {{{1}, {2}}, {{3}, {1L << 40}}},
                        "floats", new float[] {0.5f},
                        "doubles", new double[][] {{0.1, Double.NaN}}));

        try (Dataset d = store.connect().dataset("d")) {
            assertThat(d.array("bytes").getInt(0, 1)).isEqualTo(255);
            assertThat(d.array("ints").getInt(0)).isEqualTo(Integer.MIN_VALUE);
            assertThat(d.array("longs").shape()).containsExactly(2, 2, 1);
            assertThat(d.array("longs").getLong(1, 1, 0)).isEqualTo(1L << 40);
            assertThat(d.array("floats").getFloat(0)).isEqualTo(0.5f);
            assertThat(d.array("doubles").getDouble(0, 1)).isNaN();
        }
    }

    @Test
    void emptyArraysKeepTheirDimensions() {
        store.publish("d", Map.of("none", new float[0][], "empty", new int[3][0]));

        try (Dataset d = store.connect().dataset("d")) {
            assertThat(d.array("none").shape()).containsExactly(0, 0);
            assertThat(d.array("empty").shape()).containsExactly(3, 0);
        }
    }

    @Test
    void textsBecomeAColumn() {
        store.publish("d", Map.of("word", new String[] {"", "naïve"}));

        try (Dataset d = store.connect().dataset("d")) {
            assertThat(d.strings("word").get(1)).isEqualTo("naïve");
        }
    }

    @Test
    void rowsOfDifferentLengthsAreRefusedAndNothingIsPublished() {
        assertThatThrownBy(() -> store.publish("d", Map.of("x", new int[][] {{1, 2}, {3}})))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("rows of an array differ in length: name=x axis=1 expected=2 found=1;"
                        + " a ragged column is made with DatasetBuilder.ragged");
        assertThatThrownBy(() -> store.publish("d", Map.of("x", new int[][] {{1}, null})))
                .hasMessageContaining("found=null");
        assertThatThrownBy(() -> store.publish("d", Map.of("x", new Object[] {1})))
                .hasMessageStartingWith("no array of numbers: name=x type=java.lang.Object[]");

        try (Larder larder = store.connect()) {
            assertThatThrownBy(() -> larder.dataset("d"))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND));
        }
    }

    @Test
    void aReaderKeepsItsVersionWhenAnotherIsPublished() {
        store.publish("d", Map.of("x", new int[] {1}));

        try (Dataset old = store.connect().dataset("d")) {
            store.publish("d", Map.of("x", new int[] {2}));
            ArrayView x = old.array("x");
            assertThat(x.getInt(0)).isEqualTo(1);
            assertThat(old.isNewest()).isFalse();
        }
    }

    @Test
    void filesAreLoadedAsByTheCommand(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("t.csv"), "a,b\n1,x\n2,y\n");

        store.load("t", file);

        try (Dataset t = store.connect().dataset("t")) {
            assertThat(t.array("a").getLong(1)).isEqualTo(2);
        }
    }

    @Test
    void twoStoresAreIndependent() {
        try (TestStore other = TestStore.start()) {
            store.publish("d", Map.of("x", new int[] {1}));
            other.publish("d", Map.of("x", new int[] {2}));

            try (Dataset d = other.connect().dataset("d")) {
                assertThat(d.array("x").getInt(0)).isEqualTo(2);
            }
        }
    }

    @Test
    void aClosedStoreIsRefused() {
        store.close();

        assertThatThrownBy(store::connect)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the test's store is closed: path=" + store.path());
    }
}
