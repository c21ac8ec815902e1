package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.WorkPart;
import dev.larder.internal.posix.ThreadUsage;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.field.DiskRows;
import dev.larder.loader.internal.field.FieldReader;
import dev.larder.loader.internal.field.FieldSpec;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.field.SourceData;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of stores on a disk, which are read by calls until they are known to be in memory. */
@Timeout(300)
class ReadAheadTest {
    private static final int ROWS = 700;

    private final StoreFixture disk = StoreFixture.createOnDisk();
    private final StoreFixture memory = StoreFixture.create();

    @AfterEach
    void close() {
        disk.close();
        memory.close();
    }

    private static long checksum(StoreFixture store, Function<Dataset, LoaderBuilder> loader) {
        try (Larder larder = Larder.connect(store.store());
                Dataset dataset = larder.dataset("d");
                Loader loading = loader.apply(dataset).build()) {
            return Shelf.checksum(loading.epoch(1)) * 31 + Shelf.checksum(loading.epoch(2));
        }
    }

    private void assertSameBatches(Map<String, FixtureArray> arrays, Function<Dataset, LoaderBuilder> loader) {
        disk.publish("d", arrays);
        memory.publish("d", arrays);

        assertThat(checksum(disk, loader)).isEqualTo(checksum(memory, loader));
    }

    @ParameterizedTest
    @CsvSource({"|u1,1", "<i2,3", ">f4,7", "<f8,98", "<c16,256", "|S5,1001", "|u1,9000"})
    void rowsOfEveryLengthAreThoseOfMemory(String dtype, int items) {
        int bytes = Dtype.parse(dtype).itemSize();
        byte[] noise = Shelf.noiseBytes(ROWS * items * bytes);
        FixtureArray rows = FixtureArray.of(dtype, Order.C, noise, ROWS, items);

        assertSameBatches(
                Map.of("rows", rows, "labels", Shelf.labels(ROWS)),
                dataset -> Loader.over(dataset).shuffle(3).batchSize(16));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void anyNumberOfThreadsReadsTheSame(int threads) {
        assertSameBatches(
                Map.of("rows", Shelf.noise(ROWS, 3000)),
                dataset -> Loader.over(dataset).shuffle(3).batchSize(40).threads(threads));
    }

    @ParameterizedTest
    @CsvSource({"true,65536,0", "true,65535,1", "false,65536,1"})
    void longRowsOnADiskHaveOneThreadMore(boolean isOnDisk, int rowBytes, int spared) {
        StoreFixture store = isOnDisk ? disk : memory;
        store.publish("d", Map.of("rows", Shelf.noise(9, rowBytes)));
        int processors = Runtime.getRuntime().availableProcessors();

        try (Larder larder = Larder.connect(store.store());
                Dataset dataset = larder.dataset("d");
                Loader loader = Loader.over(dataset).batchSize(2).build()) {
            assertThat(Shelf.checksum(loader.epoch(1))).isNotZero();
            assertThat(Shelf.gatherThreads()).isEqualTo(Math.max(1, Math.min(8, processors - spared)));
        }
    }

    @Test
    void windowsStepsAndBatchesOfAnySizeAreThoseOfMemory() {
        Map<String, FixtureArray> arrays = Map.of(
                "rows",
                Shelf.noise(ROWS, 50),
                "fortran",
                FixtureArray.of("|u1", Order.F, Shelf.noiseBytes(ROWS * 4), ROWS, 4));

        assertSameBatches(
                arrays,
                dataset -> Loader.over(dataset)
                        .fields(
                                Field.window("rows", 5).stride(2),
                                Field.window("fortran", 2).stride(2))
                        .shuffle(3)
                        .batchSize(9));
        assertSameBatches(
                arrays,
                dataset -> Loader.over(dataset)
                        .fields(
                                Field.rows("rows").transform(new Transform().toFloat()),
                                Field.rows("rows")
                                        .as("made")
                                        .map(
                                                Dtype.parse("|u1"),
                                                new long[] {50},
                                                (row, result) -> row.getBytes(0, result, 0, 50)))
                        .batches(BatchSampler.of(Sampler.random(5), 13, false)));
    }

    @Test
    void columnsAreThoseOfMemory() {
        assertSameBatches(
                Scenes.arrays(Scenes.SCENES),
                dataset -> Loader.over(dataset)
                        .fields(
                                Field.padded("words"),
                                Field.packed("boxes").truncate(2),
                                Field.texts("question").truncate(9),
                                Field.texts("scene"),
                                Field.rows("feat").at("feat_row"))
                        .shuffle(3)
                        .batchSize(7));
    }

    @Test
    void rowsInMemoryAreSoonCopiedFromTheMapping() {
        disk.publish("d", Map.of("rows", Shelf.noise(4000, 4096)));
        try (Larder larder = Larder.connect(disk.store());
                Dataset dataset = larder.dataset("d");
                Loader loader = Loader.over(dataset).shuffle(3).batchSize(50).build()) {
            await().atMost(Duration.ofMinutes(2)).until(() -> {
                long before = bytesReadByCalls();
                loader.epoch(0).forEach(batch -> {});
                return bytesReadByCalls() - before < 4000 * 4096 / 2;
            });
        }
    }

    private static long bytesReadByCalls() throws IOException {
        String first = Files.readAllLines(Path.of("/proc/self/io")).get(0);
        return Long.parseLong(first.substring("rchar: ".length()));
    }

    @Test
    void waitsForADiskAreCounted() throws IOException {
        Path rows = disk.layout()
                .version("d", disk.publish("d", Map.of("rows", Shelf.noise(4000, 4096))))
                .resolve("rows.npy");
        Path counters = Files.createDirectory(disk.layout().loaders());

        await().atMost(Duration.ofMinutes(2)).until(() -> {
            dropFromMemory(rows);
            try (Larder larder = Larder.connect(disk.store());
                    Dataset dataset = larder.dataset("d");
                    Loader loader =
                            Loader.over(dataset).shuffle(3).batchSize(50).build();
                    Stream<Path> files = Files.list(counters)) {
                loader.epoch(0).forEach(batch -> {});
                return LoaderCountersTest.nanos(
                                LoaderCountersTest.read(files.findFirst().orElseThrow()),
                                LoaderDescriptor.ROLE_GATHERER,
                                WorkPart.READING)
                        > 0;
            }
        });
    }

    private static void dropFromMemory(Path file) throws Exception {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        Process dd = new ProcessBuilder("dd", "if=" + file, "iflag=nocache", "count=0", "status=none").start();
        assertThat(dd.waitFor()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 20})
    void aFileThatHasBecomeShorterIsNamedWithItsRow(int epochsBefore) throws IOException {
        long version = disk.publish("d", Map.of("rows", Shelf.noise(ROWS, 4096)));
        Path file = disk.layout().version("d", version).resolve("rows.npy");
        try (Larder larder = Larder.connect(disk.store());
                Dataset dataset = larder.dataset("d");
                Loader loader = Loader.over(dataset).batchSize(50).build()) {
            for (int epoch = 0; epoch < epochsBefore; epoch++) { // then rows are copied from the mapping
                loader.epoch(epoch).forEach(batch -> {});
            }
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(channel.size() - 100 * 4096);
            }

            assertThatThrownBy(() -> loader.epoch(0).forEach(batch -> {}))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CHECKSUM))
                    .hasMessageStartingWith("cannot gather rows: dataset=d version=1 stage=gather")
                    .hasMessageContaining("cause=row not read: file=" + file
                            + " row=6") // threads share the batch of the first such row
                    .hasMessageContaining("array=rows sample=6");
        }
    }

    @Test
    void noThreadAndNoFileIsLeft() throws IOException {
        disk.publish("d", Map.of("rows", Shelf.noise(ROWS, 100)));
        try (Larder larder = Larder.connect(disk.store());
                Dataset dataset = larder.dataset("d")) {
            Loader loader = Loader.over(dataset).batchSize(5).build();
            loader.epoch(0).iterator().next();
            assertThat(readAheadThreads()).isOne();
            assertThat(openFiles("/rows.npy")).isOne();

            loader.close();

            assertThat(readAheadThreads()).isZero();
            assertThat(openFiles("/rows.npy")).isZero();
        }
    }

    @Test
    void aLoaderThatIsRefusedLeavesNoFileOpen() throws IOException {
        disk.publish("d", Map.of("rows", Shelf.noise(ROWS, 100)));
        try (Larder larder = Larder.connect(disk.store());
                Dataset dataset = larder.dataset("d")) {
            LoaderBuilder twice = Loader.over(dataset)
                    .fields(Field.rows("rows"), Field.rows("rows"))
                    .batchSize(5);

            assertThatThrownBy(twice::build).hasMessageContaining("named twice");

            assertThat(openFiles("/rows.npy")).isZero();
        }
    }

    @Test
    void aFileOfManyArraysIsOpenedOnce() throws IOException {
        Map<String, FixtureArray> arrays = new HashMap<>();
        for (int i = 0; i < 1000; i++) {
            arrays.put("a" + i, FixtureArray.ints(new int[] {i, -i}, 2));
        }
        disk.publishPacked("d", arrays);
        try (Larder larder = Larder.connect(disk.store());
                Dataset dataset = larder.dataset("d");
                Loader loader = Loader.over(dataset).batchSize(2).build()) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThat(openFiles("/pack-0000")).isOne();
            assertThat(batch.array("a999").getInt(0)).isEqualTo(999);
            assertThat(batch.array("a7").getInt(1)).isEqualTo(-7);
        }
        assertThat(openFiles("/pack-0000")).isZero();
    }

    @Test
    void samplesWithoutARowDoNotEndTheRequestsForOthers() {
        Path rows = disk.layout()
                .version("d", disk.publish("d", Scenes.arrays(5))) // scenes 5 and 6 are not in the index
                .resolve("feat.npy");
        try (Larder larder = Larder.connect(disk.store());
                Dataset dataset = larder.dataset("d")) {
            LoaderSource source = source(dataset, Field.rows("feat").lookup("scene", "scenes"));
            HostSlot slot = HostSlot.withoutMemory();
            slot.resize(4);
            slot.rows = new long[] {5, 0, Scenes.ROWS, 6};

            await().atMost(Duration.ofMinutes(1)).until(() -> {
                dropFromMemory(rows);
                return bytesRequested(source.fields().get(0), slot) > 0;
            });
            source.closeFiles();
        }
    }

    private static LoaderSource source(Dataset dataset, Field... fields) {
        SourceData data = new SourceData(List.of(dataset), SourceData.Joins.ZIP, null);
        List<FieldSpec> specs = Arrays.stream(fields).map(Field::spec).toList();
        return LoaderSource.of(data, specs, null, 0, Duration.ofMinutes(1), null);
    }

    /** Requests the rows of a slot, and returns how many bytes that reads from a disk. */
    private static long bytesRequested(FieldReader field, HostSlot slot) {
        ThreadUsage usage = new ThreadUsage();
        usage.update();
        long before = usage.diskBytes();
        field.readAhead(slot, 0, slot.size);
        usage.update();
        return usage.diskBytes() - before;
    }

    /** Returns how often a file is open. */
    private static long openFiles(String end) throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors
                    .filter(descriptor -> target(descriptor).endsWith(end))
                    .count();
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException closed) { // the descriptor of the list itself
            return "";
        }
    }

    @Test
    void aThreadThatOutlivesTheLoaderKeepsNothingOfIt() {
        disk.publish("d", Map.of("rows", Shelf.noise(ROWS, 100)));
        try (Larder larder = Larder.connect(disk.store());
                Dataset dataset = larder.dataset("d")) {
            WeakReference<DiskRows> rows = readAndClosed(dataset);

            await().atMost(Duration.ofMinutes(1)).until(() -> {
                System.gc();
                return rows.get() == null;
            });
        }
    }

    private static WeakReference<DiskRows> readAndClosed(Dataset dataset) {
        LoaderSource source = source(dataset);
        FieldReader field = source.fields().get(0);
        HostSlot slot = new HostSlot(source.arrays(), 1, 4, HostMemory::allocate);
        slot.resize(4);
        field.prepare(slot);
        field.fill(slot, 0, 4, field.newScratch());
        source.closeFiles();
        return new WeakReference<>(source.disks().get(0));
    }

    private static long readAheadThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("larder-read-ahead"))
                .count();
    }
}
