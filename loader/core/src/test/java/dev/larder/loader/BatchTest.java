package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.loader.internal.ring.Deliveries;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchTest {
    @ParameterizedTest
    @ValueSource(
            strings = {">f8", "<i8", "[('id', '>i2'), ('x', '<f4'), ('y', '|u1'), ('z', '|u1')]", "|S8", "<U2", "<c8"})
    void rowsOfEveryTypeComeAsTheyAreStored(String dtype) {
        byte[] stored = Shelf.noiseBytes(20 * 3 * 8);
        try (Shelf shelf = Shelf.of(Map.of("a", FixtureArray.of(dtype, Order.C, stored, 20, 3)));
                Loader loader =
                        Loader.over(shelf.dataset).shuffle(9).batchSize(6).build()) {
            for (Batch batch : loader.epoch(0)) {
                byte[] row = new byte[24];
                for (int i = 0; i < batch.size(); i++) {
                    batch.array("a").buffer().getBytes(i * 24, row);
                    int start = (int) batch.row(i) * 24;
                    assertThat(row).containsExactly(Arrays.copyOfRange(stored, start, start + 24));
                }
            }
        }
    }

    @Test
    void arrayOfABatchTellsItsTypeAndShape() {
        FixtureArray floats = FixtureArray.of(">f4", Order.C, new byte[10 * 2 * 3 * 4], 10, 2, 3);
        try (Shelf shelf = Shelf.of(Map.of("x", floats));
                Loader loader = Loader.over(shelf.dataset).batchSize(4).build()) {
            List<String> shapes = new ArrayList<>();
            for (Batch batch : loader.epoch(0)) {
                BatchArray x = batch.array(0);
                shapes.add(x.dtype().descr() + Arrays.toString(x.shape()) + x.rowByteSize() + "/" + x.byteSize());
            }
            assertThat(shapes).containsExactly(">f4[4, 2, 3]24/96", ">f4[4, 2, 3]24/96", ">f4[2, 2, 3]24/48");
        }
    }

    @Test
    void buffersHaveTheLengthOfTheBatchAndTheByteOrderOfTheArray() {
        ByteBuffer values = ByteBuffer.allocate(5 * 4).order(ByteOrder.BIG_ENDIAN);
        values.asFloatBuffer().put(new float[] {1, 2, 3, 4, 5});
        try (Shelf shelf = Shelf.of(Map.of("x", FixtureArray.of(">f4", Order.C, values.array(), 5)));
                Loader loader = Loader.over(shelf.dataset).batchSize(3).build()) {
            List<Float> seen = new ArrayList<>();
            for (Batch batch : loader.epoch(0)) {
                DirectBuffer buffer = batch.array("x").buffer();
                ByteBuffer bytes = batch.array("x").byteBuffer();
                assertThat(buffer.capacity()).isEqualTo(bytes.remaining()).isEqualTo(batch.size() * 4);
                assertThat(bytes.isReadOnly()).isTrue();
                for (int i = 0; i < batch.size(); i++) {
                    assertThat(buffer.getFloat(i * 4, ByteOrder.BIG_ENDIAN)).isEqualTo(bytes.getFloat(i * 4));
                    seen.add(bytes.getFloat(i * 4));
                }
            }
            assertThat(seen).containsExactly(1f, 2f, 3f, 4f, 5f);
        }
    }

    @Test
    void everyArrayOfABatchStartsOnAPage() {
        try (Shelf shelf = Shelf.ofSamples(30, 100);
                Loader loader = Loader.over(shelf.dataset).batchSize(7).build()) {
            for (Batch batch : loader.epoch(0)) {
                for (BatchArray array : batch.arrays()) {
                    assertThat(array.buffer().addressOffset() % 4096).isZero();
                }
            }
        }
    }

    @Test
    void rowsWithoutBytesAreStillCounted() {
        FixtureArray hollow = FixtureArray.of("<f4", Order.C, new byte[0], 5, 0);
        try (Shelf shelf = Shelf.of(Map.of("hollow", hollow));
                Loader loader = Loader.over(shelf.dataset).batchSize(2).build()) {
            List<Integer> sizes = new ArrayList<>();
            for (Batch batch : loader.epoch(0)) {
                assertThat(batch.array(0).byteBuffer().remaining()).isZero();
                sizes.add(batch.size());
            }
            assertThat(sizes).containsExactly(2, 2, 1);
        }
    }

    @Test
    void closedBatchIsAnExceptionAlsoWhenItsSlotIsInUseAgain() {
        try (Shelf shelf = Shelf.ofSamples(1000, 3);
                Loader loader =
                        Loader.over(shelf.dataset).batchSize(4).prefetch(2).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch closed = batches.next();
            BatchArray labels = closed.array("labels");
            for (int i = 0; i < 200; i++) {
                batches.next();

                assertThat(closed.isOpen()).isFalse();
                assertThatThrownBy(closed::size).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(labels::buffer).isInstanceOf(IllegalStateException.class);
            }
        }
    }

    @Test
    void everyMethodOfAClosedBatchRefuses() {
        try (Shelf shelf = Shelf.ofSamples(10, 3);
                Loader loader = Loader.over(shelf.dataset).batchSize(4).build()) {
            Batch batch = loader.epoch(0).iterator().next();
            BatchArray array = batch.array(0);
            assertThat(batch).hasToString("Batch{0 of epoch 0, size 4}");
            batch.close();
            batch.close();

            List<Runnable> uses = List.of(
                    batch::number,
                    batch::epoch,
                    batch::rows,
                    batch::arrays,
                    batch::keep,
                    array::shape,
                    array::byteSize,
                    array::byteBuffer,
                    () -> batch.row(0),
                    () -> batch.array(0),
                    () -> batch.array("labels"));
            assertThat(uses).allSatisfy(use -> assertThatThrownBy(use::run).isInstanceOf(IllegalStateException.class));
            assertThat(batch).hasToString("Batch{closed}");
        }
    }

    @Test
    void keptBatchOutlivesItsLoopAndItsEpoch() {
        try (Shelf shelf = Shelf.ofSamples(100, 3);
                Loader loader = Loader.over(shelf.dataset)
                        .shuffle(0)
                        .batchSize(4)
                        .prefetch(2)
                        .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch kept = batches.next().keep();
            List<Integer> before = Shelf.labels(kept);
            batches.forEachRemaining(batch -> {});

            loader.epoch(1).forEach(batch -> {});
            assertThat(Shelf.labels(kept)).isEqualTo(before);
            kept.close();
            assertThat(kept.isOpen()).isFalse();
        }
    }

    @Test
    void closingAKeptBatchTwiceNeverClosesAnother() {
        try (Shelf shelf = Shelf.ofSamples(4 * (Deliveries.REST + 100), 3);
                Loader loader =
                        Loader.over(shelf.dataset).batchSize(4).prefetch(3).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch kept = batches.next().keep();
            BatchArray labels = kept.array("labels");
            kept.close();
            int count = 1;
            for (; batches.hasNext(); count++) {
                Batch batch = batches.next();
                kept.close();

                assertThat(batch.isOpen()).isTrue();
                assertThat(kept.isOpen()).isFalse();
                assertThatThrownBy(labels::buffer).isInstanceOf(IllegalStateException.class);
            }
            assertThat(count).isEqualTo(Deliveries.REST + 100);
        }
    }

    @Test
    void arrayThatTheLoaderDoesNotReadIsRefusedWithTheOnesItReads() {
        try (Shelf shelf = Shelf.ofSamples(10, 3);
                Loader loader =
                        Loader.over(shelf.dataset).arrays("labels").batchSize(4).build()) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThatThrownBy(() -> batch.array("images")).hasMessageContaining("array=images arrays=[labels]");
            assertThatThrownBy(() -> batch.row(4)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> batch.array(0).byteBuffer(3, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }
}
