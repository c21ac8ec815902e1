package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.sample.Lengths;
import dev.larder.loader.transform.RaggedFunction;
import dev.larder.loader.transform.RowFunction;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The user's code over the bytes of rows of every kind. */
class RowFunctionTest {
    private static final Dtype INT32 = Dtype.parse("<i4");
    private static final Dtype FLOAT32 = Dtype.parse("<f4");

    /** Sums the int32 of a row, whatever their number, and counts them. */
    private static final RowFunction SUM_AND_COUNT = (row, result) -> {
        int sum = 0;
        for (int at = 0; at < row.capacity(); at += Integer.BYTES) {
            sum += row.getInt(at, ByteOrder.LITTLE_ENDIAN);
        }
        result.putInt(0, sum, ByteOrder.LITTLE_ENDIAN);
        result.putInt(4, row.capacity() / Integer.BYTES, ByteOrder.LITTLE_ENDIAN);
    };

    /** Makes a number of each digit of a text. */
    private static final RaggedFunction DIGITS = (row, result) -> {
        int count = 0;
        for (int i = 0; i < row.capacity(); i++) {
            if (Character.isDigit(row.getByte(i))) {
                result.putInt(count++ * Integer.BYTES, row.getByte(i) - '0', ByteOrder.LITTLE_ENDIAN);
            }
        }
        return count;
    };

    private final Scenes scenes = Scenes.open();

    private LoaderBuilder loader(int batch, Field... fields) {
        return Loader.over(scenes.dataset).fields(fields).batchSize(batch);
    }

    private Batch first(Loader loader) {
        return loader.epoch(0).iterator().next();
    }

    private static List<Integer> ints(Batch batch, String name) {
        ByteBuffer values = batch.array(name).byteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        return IntStream.range(0, values.capacity() / Integer.BYTES)
                .map(i -> values.getInt(i * Integer.BYTES))
                .boxed()
                .toList();
    }

    private static List<Integer> bytes(Batch batch, String name) {
        ByteBuffer values = batch.array(name).byteBuffer();
        return IntStream.range(0, values.capacity()).map(values::get).boxed().toList();
    }

    @Test
    void aFunctionSeesARowThatItCanNeitherWriteNorFollowToAnotherPlace() {
        List<DirectBuffer> seen = new ArrayList<>();
        Field[] fields = {
            Field.texts("question").map(INT32, new long[] {}, (row, result) -> seen.add(row)),
            Field.padded("words").map(INT32, new long[] {}, (row, result) -> seen.add(row)),
            Field.rows("feat").at("feat_row").map(INT32, new long[] {}, (row, result) -> seen.add(row))
        };
        try (Loader loader = loader(1, fields).threads(0).build()) {
            first(loader);

            assertThat(seen).hasSize(3).allSatisfy(row -> {
                assertThat(row).isNotInstanceOf(MutableDirectBuffer.class);
                assertThat(row.byteBuffer()).isNull();
                assertThatThrownBy(row::addressOffset).isInstanceOf(UnsupportedOperationException.class);
                assertThatThrownBy(() -> row.wrap(0L, 8)).isInstanceOf(UnsupportedOperationException.class);
            });
        }
    }

    @Test
    void paddingRowsOfOneLengthIsRefused() {
        for (Field unfit : List.of(
                Field.rows("labels").padded(),
                Field.texts("question").padded().map(INT32, new long[] {2}, SUM_AND_COUNT))) {
            assertThatThrownBy(loader(4, unfit)::build)
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("nothing to pad")
                    .hasMessageContaining("field=" + unfit.name());
        }
    }

    @Test
    void rowsOfEveryKindBecomeRowsOfOneShape() {
        try (Loader loader = loader(
                        4,
                        Field.padded("words").map(INT32, new long[] {2}, SUM_AND_COUNT),
                        Field.packed("words")
                                .truncate(2)
                                .map(INT32, new long[] {2}, SUM_AND_COUNT)
                                .as("cut"),
                        Field.rows("labels").map(INT32, new long[] {2}, SUM_AND_COUNT),
                        Field.rows("feat").at("feat_row").map(INT32, new long[] {2}, SUM_AND_COUNT),
                        Field.texts("question")
                                .map(
                                        INT32,
                                        new long[] {},
                                        (row, result) -> result.putInt(0, row.capacity(), ByteOrder.LITTLE_ENDIAN)))
                .build()) {
            Batch batch = first(loader);

            assertThat(batch.array("words").shape()).containsExactly(4, 2);
            assertThat(ints(batch, "words")).containsExactly(0, 0, 1, 1, 5, 2, 12, 3);
            assertThat(ints(batch, "cut")).containsExactly(0, 0, 1, 1, 5, 2, 7, 2);
            assertThat(ints(batch, "labels")).containsExactly(0, 1, 1, 1, 2, 1, 3, 1);
            assertThat(ints(batch, "feat")).containsExactly(0, 3, 30, 3, 60, 3, 90, 3);
            assertThat(batch.array("question").shape()).containsExactly(4);
            assertThat(ints(batch, "question")).containsExactly(13, 13, 13, 13);
        }
    }

    @Test
    void stepsBeforeAndAfterComposeWithTheFunction() {
        try (Loader loader = loader(
                        5,
                        Field.padded("words")
                                .transform(new Transform()
                                        .cast("<i8")
                                        .mapRow(FLOAT32, new long[] {2}, (row, result) -> {
                                            result.putFloat(0, row.capacity(), ByteOrder.LITTLE_ENDIAN);
                                            result.putFloat(
                                                    4,
                                                    row.capacity() == 0 ? -1 : (float) row.getLong(0),
                                                    ByteOrder.LITTLE_ENDIAN);
                                        }))
                                .transform(new Transform().scale(0.5f, 1).cast("<i4")),
                        Field.rows("feat")
                                .at("feat_row")
                                .transform(new Transform().cast("<f4").map((values, shape, random) -> values[0] += 1))
                                .map(
                                        INT32,
                                        new long[] {},
                                        (row, result) ->
                                                result.putInt(0, (int) row.getFloat(0), ByteOrder.LITTLE_ENDIAN))
                                .transform(new Transform().mapRow(INT32, new long[] {2}, (row, result) -> {
                                    result.putInt(0, row.getInt(0));
                                    result.putInt(4, 7);
                                })))
                .build()) {
            Batch batch = first(loader);

            assertThat(ints(batch, "words")).containsExactly(1, 0, 5, 1, 9, 2, 13, 2, 17, 3);
            assertThat(ints(batch, "feat")).containsExactly(1, 7, 11, 7, 21, 7, 31, 7, 41, 7);
        }
    }

    @Test
    void aFunctionMaySayHowLongARowBecame() {
        try (Loader loader = loader(
                        3,
                        Field.texts("question")
                                .mapRagged(INT32, new long[] {3}, DIGITS)
                                .as("packed"),
                        Field.texts("question")
                                .padded()
                                .padLeft()
                                .fillValue(-1)
                                .mapRagged(INT32, new long[] {3}, DIGITS)
                                .as("left"),
                        Field.texts("question")
                                .padded()
                                .toMultipleOf(4)
                                .mapRagged(INT32, new long[] {3}, DIGITS)
                                .transform(new Transform().cast("<i8"))
                                .as("wide"))
                .sequential()
                .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            batches.next();
            batches.next();
            batches.next();
            Batch batch = batches.next(); // 9, 10, 11

            assertThat(ints(batch, "packed")).containsExactly(9, 1, 0, 1, 1);
            assertThat(ints(batch, "packed.offsets")).containsExactly(0, 0, 1, 0, 3, 0, 5, 0);
            assertThat(batch.array("left").shape()).containsExactly(3, 2);
            assertThat(ints(batch, "left")).containsExactly(-1, 9, 1, 0, 1, 1);
            assertThat(bytes(batch, "left.mask")).containsExactly(0, 1, 1, 1, 1, 1);
            assertThat(batch.array("wide").shape()).containsExactly(3, 4);
            assertThat(ints(batch, "wide")).startsWith(9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0);
            assertThat(bytes(batch, "wide.mask")).containsExactly(1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0);
        }
    }

    @Test
    void textsMayBePaddedAndTheirLengthsAreThoseOfTheirBytes() {
        try (Loader loader = loader(
                        2, Field.texts("question").padded().truncate(11).fillValue(32), Field.rows("labels"))
                .build()) {
            Batch batch = first(loader);

            assertThat(batch.array("question").shape()).containsExactly(2, 11);
            assertThat(bytes(batch, "question").subList(0, 11))
                    .isEqualTo("question 0 ".chars().boxed().toList());
            assertThat(bytes(batch, "question.mask")).containsOnly(1);
        }
        assertThat(Lengths.of(scenes.dataset.strings("question")).length(10)).isEqualTo(14);
    }

    @Test
    void batchesAreTheSameWhateverTheThreadsAndTheDevice() {
        Field[] fields = {
            Field.texts("question").mapRagged(INT32, new long[] {8}, (row, result, random) -> {
                int length = random.nextInt(9);
                for (int i = 0; i < length; i++) {
                    result.putInt(i * Integer.BYTES, random.nextInt(100));
                }
                return length;
            }),
            Field.padded("words").padded().mapRagged(INT32, new long[] {5}, (row, result) -> {
                row.getBytes(0, result, 0, row.capacity());
                return row.capacity() / Integer.BYTES;
            }),
            Field.rows("labels")
                    .map(FLOAT32, new long[] {3}, (row, result, random) -> result.putFloat(4, random.nextFloat()))
        };
        long expected = 0;
        for (int threads : new int[] {0, 1, 4}) {
            try (Loader loader = loader(16, fields).shuffle(9).threads(threads).build()) {
                long found = Shelf.checksum(loader.epoch(1));
                expected = threads == 0 ? found : expected;
                assertThat(found).isEqualTo(expected);
                assertThat(Shelf.checksum(loader.epoch(2))).isNotEqualTo(expected);
            }
        }
        try (Loader loader =
                loader(16, fields).shuffle(9).device(new FakeDevice()).build()) {
            assertThat(Shelf.checksum(loader.epoch(1))).isEqualTo(expected);
        }
    }

    @Test
    void aRowThatTheFunctionRefusesIsNamedOrLeftOut() {
        Field refusing = Field.texts("question").padded().mapRagged(INT32, new long[] {2}, (row, result) -> {
            if (row.getByte(9) == '3' && row.capacity() == 13) {
                throw new IllegalArgumentException("three");
            }
            return DIGITS.apply(row, result);
        });
        try (Loader loader = loader(8, refusing).build()) {
            assertThatThrownBy(() -> first(loader))
                    .hasMessageContaining("cannot transform a sample")
                    .hasMessageContaining("three")
                    .hasMessageContaining("array=question")
                    .hasMessageContaining("sample=3");
        }
        for (int threads : new int[] {0, 4}) {
            try (Loader loader = loader(8, refusing, Field.rows("labels"))
                    .onFailure(FailurePolicy.skip(1))
                    .threads(threads)
                    .build()) {
                Batch batch = first(loader);

                assertThat(Shelf.labels(batch)).containsExactly(0, 1, 2, 4, 5, 6, 7);
                assertThat(ints(batch, "question")).containsExactly(0, 1, 2, 4, 5, 6, 7);
            }
        }
    }

    @Test
    void aLengthThatTheRowCannotHaveIsRefused() {
        for (int wrong : new int[] {-1, 3}) {
            try (Loader loader = loader(
                            2, Field.texts("question").mapRagged(INT32, new long[] {2}, (row, result) -> wrong))
                    .build()) {
                assertThatThrownBy(() -> first(loader)).hasMessageContaining("length=" + wrong + " most=2");
            }
        }
        assertThatThrownBy(() -> Field.texts("question").mapRagged(INT32, new long[] {}, (row, result) -> 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> loader(
                                2,
                                Field.texts("question")
                                        .map(INT32, new long[] {1}, (row, result) -> {})
                                        .mapRagged(INT32, new long[] {2}, DIGITS))
                        .build())
                .hasMessageContaining("rows of different lengths come out of this step");
    }

    @Test
    void aResumedEpochDrawsTheSame() {
        Field random = Field.texts("question").mapRagged(INT32, new long[] {4}, (row, result, draws) -> {
            result.putInt(0, draws.nextInt(1 << 20));
            return 1 + draws.nextInt(4);
        });
        try (Loader loader = loader(10, random).shuffle(4).build()) {
            List<List<Integer>> whole = new ArrayList<>();
            List<LoaderState> states = new ArrayList<>();
            for (Batch batch : loader.epoch(0)) {
                whole.add(ints(batch, "question"));
                states.add(batch.stateAfter());
            }
            List<List<Integer>> rest = new ArrayList<>();
            loader.resume(states.get(5)).forEach(batch -> rest.add(ints(batch, "question")));

            assertThat(rest).isEqualTo(whole.subList(6, 10));
        }
    }

    @Test
    void nothingIsAllocatedForABatchBeyondWhatIsAlwaysAllocated() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Field[] fields = {
            Field.padded("words").map(INT32, new long[] {2}, SUM_AND_COUNT),
            Field.texts("question").padded().mapRagged(INT32, new long[] {3}, DIGITS)
        };
        long mapped = allocated(threads, fields);
        long plain = allocated(threads, Field.rows("labels"));

        assertThat(mapped - plain).isLessThan(50 * 100); // 50 bytes for each of 100 batches would be an object
    }

    /** Returns the bytes that an epoch of 100 batches allocates in the consumer's thread, which gathers itself. */
    private long allocated(ThreadMXBean threads, Field... fields) {
        try (Loader loader = loader(1, fields).threads(0).build()) {
            long least = Long.MAX_VALUE;
            long seen = 0;
            for (int epoch = 0; epoch < 30; epoch++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (Batch batch : loader.epoch(epoch)) {
                    seen += batch.size();
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertThat(seen).isEqualTo(30 * 100);
            return least;
        }
    }

    @AfterEach
    void close() {
        scenes.close();
    }
}
