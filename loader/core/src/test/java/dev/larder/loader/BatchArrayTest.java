package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.larder.client.ArrayView;
import dev.larder.npy.Dtype;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Elements of a batch's array, against those of the view that they were gathered from. */
class BatchArrayTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROWS = 7;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "|b1", "|i1", "|u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8",
                "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<f16", "<c8", ">c8", "<c16", ">c16", "|S5", "<U3", ">U3",
                "<M8[s]", ">M8[D]", "<m8[ms]", "|V7"
            })
    void everyElementReadsAsInTheView(String dtype) {
        for (long[] shape :
                List.of(new long[] {ROWS}, new long[] {ROWS, 2}, new long[] {ROWS, 2, 3}, new long[] {ROWS, 2, 1, 3})) {
            try (Shelf shelf = Shelf.of(Map.of("x", random(dtype, shape)));
                    Loader loader =
                            Loader.over(shelf.dataset).shuffle(5).batchSize(3).build()) {
                ArrayView view = shelf.dataset.array("x");
                for (Batch batch : loader.epoch(0)) {
                    assertElements(batch, view);
                }
            }
        }
    }

    @Test
    void itsTextHasTheShapeUntilTheBatchIsClosed() {
        try (Shelf shelf = Shelf.of(Map.of("x", random("<f4", ROWS, 2)));
                Loader loader = Loader.over(shelf.dataset).batchSize(3).build()) {
            Batch batch = loader.epoch(0).iterator().next();
            BatchArray array = batch.array("x");
            assertThat(array).hasToString("BatchArray{x <f4 [3, 2]}");
            batch.close();
            assertThat(array).hasToString("BatchArray{x <f4 closed}");
        }
    }

    private static FixtureArray random(String dtype, long... shape) {
        int elements = (int) Arrays.stream(shape).reduce(1, Math::multiplyExact);
        byte[] data = new byte[elements * Dtype.parse(dtype).itemSize()];
        new Random(3).nextBytes(data);
        return FixtureArray.of(dtype, Order.C, data, shape);
    }

    private static void assertElements(Batch batch, ArrayView view) {
        BatchArray array = batch.array("x");
        long[] shape = array.shape();
        assertThat(array.dtype()).isEqualTo(view.dtype());
        assertThat(array.dimensions()).isEqualTo(view.dimensions());
        assertThat(array.rows()).isEqualTo(batch.size());
        assertThat(bytes(array.row(batch.size() - 1))).isEqualTo(bytes(view.row(batch.row(batch.size() - 1))));
        for (long number = 0; number < Arrays.stream(shape).reduce(1, Math::multiplyExact); number++) {
            long[] at = place(shape, number);
            long[] stored = at.clone();
            stored[0] = batch.row((int) at[0]);
            assertThat(reads(array, at)).as(view + Arrays.toString(at)).isEqualTo(reads(view, stored));
        }
    }

    private static byte[] bytes(DirectBuffer row) {
        byte[] bytes = new byte[row.capacity()];
        row.getBytes(0, bytes);
        return bytes;
    }

    private static long[] place(long[] shape, long number) {
        long[] index = new long[shape.length];
        long rest = number;
        for (int d = shape.length - 1; d >= 0; d--) {
            index[d] = rest % shape[d];
            rest /= shape[d];
        }
        return index;
    }

    /** Returns the value of each method for an element, or the kind of its refusal. */
    private static List<Object> reads(BatchArray array, long... at) {
        List<Object> few = switch (at.length) {
            case 1 ->
                List.of(
                        value(() -> array.getFloat(at[0])),
                        value(() -> array.getDouble(at[0])),
                        value(() -> array.getLong(at[0])),
                        value(() -> array.getInt(at[0])));
            case 2 ->
                List.of(
                        value(() -> array.getFloat(at[0], at[1])),
                        value(() -> array.getDouble(at[0], at[1])),
                        value(() -> array.getLong(at[0], at[1])),
                        value(() -> array.getInt(at[0], at[1])));
            case 3 ->
                List.of(
                        value(() -> array.getFloat(at[0], at[1], at[2])),
                        value(() -> array.getDouble(at[0], at[1], at[2])),
                        value(() -> array.getLong(at[0], at[1], at[2])),
                        value(() -> array.getInt(at[0], at[1], at[2])));
            default -> numbers(array, at);
        };
        assertThat(few).isEqualTo(numbers(array, at));
        return List.of(
                few,
                value(() -> array.getReal(at)),
                value(() -> array.getImaginary(at)),
                value(() -> array.getString(at)),
                value(() -> String.valueOf(array.getInstant(at))));
    }

    private static List<Object> numbers(BatchArray array, long[] at) {
        return List.of(
                value(() -> array.getFloat(at)),
                value(() -> array.getDouble(at)),
                value(() -> array.getLong(at)),
                value(() -> array.getInt(at)));
    }

    private static List<Object> reads(ArrayView view, long... at) {
        List<Object> numbers = List.of(
                value(() -> view.getFloat(at)),
                value(() -> view.getDouble(at)),
                value(() -> view.getLong(at)),
                value(() -> view.getInt(at)));
        return List.of(
                numbers,
                value(() -> view.getReal(at)),
                value(() -> view.getImaginary(at)),
                value(() -> view.getString(at)),
                value(() -> String.valueOf(view.getInstant(at))));
    }

    private static Object value(Supplier<Object> read) {
        try {
            return read.get();
        } catch (RuntimeException e) {
            return e.getClass() + " " + e.getMessage();
        }
    }

    @Test
    void indicesOutOfRangeAndAWrongNumberOfThemAreRefused() {
        try (Shelf shelf = Shelf.of(Map.of("x", random("<f4", ROWS, 2, 3)));
                Loader loader = Loader.over(shelf.dataset).batchSize(4).build()) {
            BatchArray x = loader.epoch(0).iterator().next().array("x");

            for (ThrowingCallable use : List.<ThrowingCallable>of(
                    () -> x.getFloat(4, 0, 0),
                    () -> x.getFloat(-1, 0, 0),
                    () -> x.getDouble(0, 2, 0),
                    () -> x.getFloat(0, 0, -1),
                    () -> x.getFloat(new long[] {0, 0, 3}),
                    () -> x.row(4),
                    () -> x.row(-1))) {
                assertThatThrownBy(use).isInstanceOf(IndexOutOfBoundsException.class);
            }
            for (ThrowingCallable use : List.<ThrowingCallable>of(
                    () -> x.getFloat(0), () -> x.getFloat(0, 0), () -> x.getFloat(0, 0, 0, 0), () -> x.getFloat())) {
                assertThatThrownBy(use)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("array=" + x.name() + " ")
                        .hasMessageContaining("dimensions=3");
            }
        }
    }

    @Test
    void theLastBatchEndsWithItsLastSample() {
        try (Shelf shelf = Shelf.ofSamples(5, 3);
                Loader loader = Loader.over(shelf.dataset).batchSize(4).build()) {
            for (Batch batch : loader.epoch(0)) {
                BatchArray labels = batch.array("labels");
                int last = batch.size() - 1;

                assertThat(labels.getInt(last)).isEqualTo((int) batch.row(last));
                assertThatThrownBy(() -> labels.getInt(batch.size())).isInstanceOf(IndexOutOfBoundsException.class);
            }
        }
    }

    @Test
    void aClosedBatchHasNoElements() {
        try (Shelf shelf = Shelf.ofSamples(10, 3);
                Loader loader = Loader.over(shelf.dataset).batchSize(4).build()) {
            Batch batch = loader.epoch(0).iterator().next();
            BatchArray images = batch.array("images");
            batch.close();

            for (ThrowingCallable use : List.<ThrowingCallable>of(
                    () -> images.getFloat(0, 0),
                    () -> images.getDouble(0, 0),
                    () -> images.getLong(0, 0),
                    () -> images.getInt(0, 0),
                    () -> images.row(0),
                    images::rows,
                    images::dimensions)) {
                assertThatThrownBy(use)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("closed");
            }
        }
    }

    @Test
    void paddedRowsHaveTheShapeOfTheirBatch() {
        try (Scenes scenes = Scenes.open();
                Loader loader = Loader.over(scenes.dataset)
                        .fields(Field.padded("words"))
                        .batchSize(2)
                        .build()) {
            for (Batch batch : loader.epoch(0)) {
                BatchArray features = batch.array("words");
                BatchArray mask = batch.array("words.mask");
                long longest = LongStream.range(0, batch.size())
                        .map(i -> LongStream.range(0, features.dimension(1))
                                .map(j -> mask.getInt(i, j))
                                .sum())
                        .max()
                        .orElse(0);

                assertThat(features.dimension(1)).isEqualTo(longest);
            }
        }
    }

    @Test
    void readingElementsAllocatesNothing() {
        try (Shelf shelf = Shelf.of(Map.of("x", random("<f4", ROWS, 20, 30), "y", random("|u1", ROWS)));
                Loader loader = Loader.over(shelf.dataset).batchSize(ROWS).build()) {
            Batch batch = loader.epoch(0).iterator().next();
            double warm = sum(batch, 200);

            long before = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
            double sum = sum(batch, 200);
            long after = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());

            assertThat(Double.compare(sum, warm)).isZero();
            assertThat(after - before).isLessThan(1000); // for 840,000 elements
        }
    }

    private static double sum(Batch batch, int times) {
        double sum = 0;
        for (int time = 0; time < times; time++) {
            for (int i = 0; i < ROWS; i++) {
                sum += batch.array("y").getInt(i);
                for (int j = 0; j < 20; j++) {
                    for (int k = 0; k < 30; k++) {
                        sum += batch.array("x").getFloat(i, j, k);
                    }
                }
            }
        }
        return sum;
    }

    @Test
    void aRowIsAWindowOnTheBatch() {
        try (Shelf shelf = Shelf.ofSamples(4, 100);
                Loader loader = Loader.over(shelf.dataset).batchSize(4).build()) {
            BatchArray images = loader.epoch(0).iterator().next().array("images");

            DirectBuffer row = images.row(2);

            assertThat(row.addressOffset()).isEqualTo(images.handle() + 200);
            assertThat(row).isEqualTo(new UnsafeBuffer(images.byteBuffer(2, 1)));
        }
    }
}
