package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.column.BytesBuilder;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.fanout.BatchPublisher;
import dev.larder.loader.fanout.SharedBatch;
import dev.larder.loader.fanout.SharedBatches;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches on both sides of sizes at which the loader does something else. */
class SizesTest {
    private static final int MANY = 70;

    private final StoreFixture store = StoreFixture.create();

    @AfterEach
    void close() {
        store.close();
    }

    /** Publishes arrays of numbers: 100 times the array's number, plus the row. */
    private void publishMany() {
        Map<String, FixtureArray> arrays = new LinkedHashMap<>();
        for (int i = 0; i < MANY; i++) {
            int first = 100 * i;
            arrays.put(
                    "a" + i, FixtureArray.ints(IntStream.range(first, first + 5).toArray(), 5));
        }
        store.publish("many", arrays);
    }

    private static void requireMany(int i, ByteBuffer values, int row) {
        assertThat(values.order(ByteOrder.LITTLE_ENDIAN).getInt(0)).isEqualTo(100 * i + row);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aBatchMayHaveSeventyArrays(boolean onDevice) {
        publishMany();
        try (Larder larder = Larder.connect(store.store());
                Dataset dataset = larder.dataset("many");
                Loader loader = onDevice
                        ? Loader.over(dataset)
                                .batchSize(1)
                                .device(new FakeDevice())
                                .build()
                        : Loader.over(dataset).batchSize(1).build()) {
            for (Batch batch : loader.epoch(0)) {
                for (int i = 0; i < MANY; i++) {
                    ByteBuffer values = ByteBuffer.allocateDirect(Integer.BYTES);
                    batch.array("a" + i).read(values);
                    requireMany(i, values, (int) batch.number());
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSharedBatchMayHaveSeventyArrays(boolean inPlace) {
        publishMany();
        try (Larder larder = Larder.connect(store.store());
                Dataset dataset = larder.dataset("many");
                BatchPublisher publisher =
                        BatchPublisher.of(larder, "run").consumers(1).open();
                Loader loader = inPlace
                        ? Loader.over(dataset)
                                .batchSize(1)
                                .into(publisher.slots())
                                .build()
                        : Loader.over(dataset).batchSize(1).build()) {
            CompletableFuture<Void> published = CompletableFuture.runAsync(() -> publisher.publish(loader.epoch(0)));
            try (SharedBatches batches = SharedBatches.of(larder, "run")
                    .timeout(Duration.ofMinutes(1))
                    .attach()) {
                requireMany(batches);
            }
            published.join();
        }
    }

    private static void requireMany(SharedBatches batches) {
        int row = 0;
        for (SharedBatch batch : batches) {
            for (int i = 0; i < MANY; i++) {
                requireMany(i, batch.array("a" + i).byteBuffer(), row);
            }
            if (++row == 5) { // the publisher is still open
                return;
            }
        }
    }

    /** Rows on both sides of 2 GiB and 4 GiB, and the last one. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void rowsBeyondTwoAndFourGibibytesAreFound(int threads) {
        long rows = 1_500_000;
        int rowBytes = 3072;
        long[] wanted = {0, (2L << 30) / rowBytes - 1, (2L << 30) / rowBytes, (4L << 30) / rowBytes, rows - 1};
        Map<Long, byte[]> pieces = new LinkedHashMap<>();
        for (int i = 0; i < wanted.length; i++) {
            pieces.put(wanted[i] * rowBytes, new byte[] {(byte) (i + 1)});
            pieces.put(wanted[i] * rowBytes + rowBytes - 1, new byte[] {(byte) (i + 11)});
        }
        store.publishSparse("big", "x", NpyHeader.of(Dtype.parse("|u1"), Order.C, rows, rowBytes), pieces);
        try (Larder larder = Larder.connect(store.store());
                Dataset dataset = larder.dataset("big");
                Loader loader = Loader.over(dataset)
                        .fields(
                                Field.rows("x"),
                                Field.rows("x")
                                        .transform(new Transform().cast("<i4"))
                                        .as("ints"),
                                Field.rows("x")
                                        .map(Dtype.parse("|u1"), new long[] {2}, SizesTest::ends)
                                        .as("ends"))
                        .sampler((all, epoch) -> new Wanted(wanted))
                        .threads(threads)
                        .batchSize(wanted.length)
                        .build()) {
            Batch batch = loader.epoch(0).iterator().next();
            for (int i = 0; i < wanted.length; i++) {
                assertThat(batch.array("x").byteBuffer().get(i * rowBytes)).isEqualTo((byte) (i + 1));
                assertThat(batch.array("x").byteBuffer().get(i * rowBytes + rowBytes - 1))
                        .isEqualTo((byte) (i + 11));
                assertThat(batch.array("ints").byteBuffer().get(4 * i * rowBytes))
                        .isEqualTo((byte) (i + 1));
                assertThat(batch.array("ends").byteBuffer().get(2 * i + 1)).isEqualTo((byte) (i + 11));
            }
        }
    }

    private static void ends(DirectBuffer row, MutableDirectBuffer result) {
        result.putByte(0, row.getByte(0));
        result.putByte(1, row.getByte(row.capacity() - 1));
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Wanted(long[] rows) implements SampleOrder {
        @Override
        public long length() {
            return rows.length;
        }

        @Override
        public long row(long position) {
            return rows[(int) position];
        }
    }

    /** Tasks are of 64 KiB, blocks of transformed rows of 16 KiB. */
    @ParameterizedTest
    @CsvSource({"1, 300", "1023, 64", "1024, 64", "1025, 64", "8192, 9", "16384, 5", "16385, 5", "65536, 3", "65537, 3"
    })
    void rowsOfAnyLengthAreCutIntoTasksAndBlocks(int rowBytes, int rows) {
        byte[] noise = Shelf.noiseBytes(rows * rowBytes);
        store.publish("x", Map.of("x", FixtureArray.bytes(noise, rows, rowBytes)));
        try (Larder larder = Larder.connect(store.store());
                Dataset dataset = larder.dataset("x");
                Loader loader = Loader.over(dataset)
                        .fields(
                                Field.rows("x"),
                                Field.rows("x")
                                        .transform(new Transform().cast("<i2"))
                                        .as("shorts"))
                        .threads(3)
                        .batchSize(rows)
                        .build()) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThat(batch.array("x").byteBuffer()).isEqualTo(ByteBuffer.wrap(noise));
            ByteBuffer shorts = batch.array("shorts").byteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            int different = (int) IntStream.range(0, noise.length)
                    .filter(i -> shorts.getShort(2 * i) != (noise[i] & 0xff))
                    .count();
            assertThat(different).isZero();
        }
    }

    /** A resident array is copied in chunks of 16 MiB, into shards of at most what a device allocates at once. */
    @ParameterizedTest
    @ValueSource(longs = {64L << 20, 17L << 20, 5L << 20})
    void residentArraysOfSeveralChunksAndShardsAreRead(long mostAllocated) {
        int rowBytes = 1 << 20;
        byte[] noise = Shelf.noiseBytes(34 * rowBytes);
        store.publish("x", Map.of("x", FixtureArray.bytes(noise, 34, rowBytes)));
        try (Larder larder = Larder.connect(store.store());
                Dataset dataset = larder.dataset("x");
                Loader loader = Loader.over(dataset)
                        .batchSize(1)
                        .device(new FakeDevice().memory(1L << 30, mostAllocated))
                        .deviceMode(DeviceMode.RESIDENT)
                        .build()) {
            ByteBuffer row = ByteBuffer.allocateDirect(rowBytes);
            for (Batch batch : loader.epoch(0)) {
                batch.array("x").read(row.clear());
                assertThat(row.clear()).isEqualTo(ByteBuffer.wrap(noise, (int) batch.number() * rowBytes, rowBytes));
            }
        }
    }

    /** Keys of datasets side by side are compared in chunks of 64 MiB. */
    @Test
    void aKeyThatDiffersBehindTheFirstChunkIsFound() {
        long keys = (70L << 20) / Long.BYTES;
        NpyHeader header = NpyHeader.of(Dtype.parse("<i8"), Order.C, keys);
        store.publishSparse("left", "id", header, Map.of());
        store.publishSparse("right", "id", header, Map.of((keys - 1) * Long.BYTES, new byte[] {1}));
        try (Larder larder = Larder.connect(store.store());
                Dataset left = larder.dataset("left");
                Dataset right = larder.dataset("right")) {
            LoaderBuilder builder = Loader.over(Sources.zip("id", left, right)).batchSize(1);

            assertThatThrownBy(builder::build).hasMessageContaining("row=" + (keys - 1));
        }
    }

    @Test
    void anEncodedImageMayBeLongerThanTheMemoryOfTheOneBefore() {
        byte[] small = Images.resource("photo.jpg");
        byte[] pixels = Images.resource("photo.jpg.rgb");
        long[] lengths = {0, 200 << 10, 256 << 10, (256 << 10) + 1, 1 << 20, 0, 3 << 20};
        try (BytesBuilder files = new BytesBuilder()) {
            LongStream.of(lengths).forEach(length -> {
                int longer = (int) Math.max(small.length, length); // bytes behind the end of an image are skipped
                files.add(ByteBuffer.allocateDirect(longer).put(small).position(0));
            });
            store.publish("files", files.arrays("image"));
        }
        try (Larder larder = Larder.connect(store.store());
                Dataset dataset = larder.dataset("files");
                Loader loader = Loader.over(dataset)
                        .fields(Field.images("image").transform(new Transform().centerCrop(48, 64)))
                        .threads(0)
                        .batchSize(1)
                        .build()) {
            assumeTurbo(loader);
            for (Batch batch : loader.epoch(0)) {
                assertThat(batch.array("image").byteBuffer()).isEqualTo(ByteBuffer.wrap(pixels));
            }
        }
    }

    private static void assumeTurbo(Loader loader) {
        String decoder = loader.epoch(0).iterator().next().stateAfter().decoder();
        assumeThat(decoder).startsWith("libturbojpeg");
    }
}
