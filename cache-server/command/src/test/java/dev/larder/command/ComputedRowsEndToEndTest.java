package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.client.BytesWriter;
import dev.larder.client.ComputedRows;
import dev.larder.client.Dataset;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.StringsWriter;
import dev.larder.command.rows.StoredRows;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.rows.RowsRegion;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchChecksum;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.rows.RowComputation;
import dev.larder.rows.RowsSpec;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows that are computed once: in loaders, with the command, and shared with Python; over a daemon in a process of its own. */
class ComputedRowsEndToEndTest {
    private static final int ROWS = 60;
    private static final int SIDE = 12;
    private static final int CHANNELS = 3;
    private static final long EPOCHS = 2;

    @TempDir
    Path folder;

    private final List<Process> readers = new ArrayList<>();
    private CommandProcess daemon;
    private Larder larder;
    private Dataset photos;

    @BeforeEach
    void serve() throws IOException {
        Path file = folder.resolve("image.npy");
        NpyHeader header = NpyHeader.of(Dtype.parse("|u1"), Order.C, ROWS, SIDE, SIDE, CHANNELS);
        byte[] data = new byte[ROWS * SIDE * SIDE * CHANNELS];
        new Random(7).nextBytes(data);
        try (var channel = Channels.newChannel(Files.newOutputStream(file))) {
            channel.write(header.encode(64));
            channel.write(ByteBuffer.wrap(data));
        }
        daemon = CommandProcess.serve("--load", "photos=" + file);
        larder = Larder.connect(daemon.store());
        photos = larder.dataset("photos");
    }

    @AfterEach
    void stop() {
        readers.forEach(reader -> reader.destroyForcibly().onExit().join());
        larder.close();
        daemon.close();
    }

    // ---- loaders

    private long checksum(Field field, UnaryOperator<LoaderBuilder> settings) {
        BatchChecksum sum = new BatchChecksum();
        LoaderBuilder builder = Loader.over(photos).fields(field).shuffle(3).batchSize(16);
        try (Loader loader = settings.apply(builder).build()) {
            for (long epoch = 0; epoch < EPOCHS; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    sum.update(batch);
                }
            }
        }
        return sum.value();
    }

    private void assertSameBatches(Transform steps, String version) {
        Field plain = Field.rows("image").transform(steps);
        Field kept = plain.computed("kept", version);
        long expected = checksum(plain, builder -> builder);

        assertThat(checksum(kept, builder -> builder)).isEqualTo(expected);
        assertThat(checksum(kept, builder -> builder.threads(0))).isEqualTo(expected);
        assertThat(checksum(kept, builder -> builder.device(new FakeDevice()))).isEqualTo(expected);
    }

    @Test
    void batchesAreTheSameBytesWithRowsThatAreKept() {
        Transform tensor = new Transform().toFloat().normalize(0.5f, 0.25f).channelsFirst();

        assertSameBatches(tensor, "");
        assertSameBatches(tensor.randomCrop(8, 8, 2).randomFlip(0.5f), "");
        assertSameBatches(new Transform().centerCrop(10, 10).randomCrop(8, 8, 0).toFloat(), "");
        assertSameBatches(
                new Transform()
                        .toFloat()
                        .map((values, shape, random) -> values[0] = 2 * values[1])
                        .randomFlip(0.5f)
                        .map((values, shape, random) -> values[2] += random.nextFloat()),
                "1");
        assertThat(daemon.ask("regions").out()).contains("kept.");
    }

    @Test
    void inputsOnADiskAreReadByCallsAndFromTheMapping() {
        Field plain = Field.rows("image").transform(new Transform().toFloat());
        Field kept = plain.computed("kept");
        long expected = checksum(plain, builder -> builder);
        assertThat(daemon.ask("load", "--in-place", "mapped=" + folder.resolve("image.npy"))
                        .code())
                .isZero();
        photos.close();
        photos = larder.dataset("mapped");

        for (int loader = 0; loader < 20; loader++) { // after 1,024 samples rows are copied from the mapping
            assertThat(checksum(kept, builder -> builder)).isEqualTo(expected);
        }
        try (Loader loader = Loader.over(photos).fields(kept).batchSize(ROWS).build()) {
            for (long epoch = 0; epoch < 20; epoch++) {
                assertThat(loader.epoch(epoch)).hasSize(1);
            }
        }
    }

    @Test
    void aRowOfALoaderIsComputedOnceForAllLoadersAndEpochs() {
        AtomicInteger calls = new AtomicInteger();
        Transform steps = new Transform().map(Dtype.parse("<f4"), new long[] {4}, (sample, result, random) -> {
            calls.incrementAndGet();
            result.putFloat(sample.get(0) & 0xff);
        });
        Field field = Field.rows("image").transform(steps);

        checksum(field.computed("kept", "1"), builder -> builder);
        checksum(field.computed("kept", "1"), builder -> builder.shard(1, 2));
        assertThat(calls).hasValue(ROWS);

        checksum(field.computed("kept", "2"), builder -> builder);
        assertThat(calls).hasValue(2 * ROWS);
    }

    @Test
    void whatALoaderCannotKeepIsRefusedWithTheRemedy() {
        Transform userCode = new Transform().toFloat().map((values, shape, random) -> values[0] = random.nextFloat());

        assertRefused(Field.rows("image").computed("kept"), "leave computed(…) out");
        assertRefused(
                Field.rows("image").transform(new Transform().randomFlip(0.5f)).computed("kept"),
                "leave computed(…) out");
        assertRefused(Field.rows("image").transform(userCode).computed("kept"), "computed(\"kept\", \"1\")");
        assertThatThrownBy(() ->
                        checksum(Field.rows("image").transform(userCode).computed("kept", "1"), builder -> builder))
                .hasMessageContaining("cannot transform a sample")
                .hasMessageContaining("draws random numbers")
                .hasMessageContaining("sample=");
    }

    /** Publishes texts, and images of different sizes. */
    private void publishColumns() throws IOException {
        try (DatasetBuilder builder = larder.build("columns")) {
            StringsWriter texts = builder.strings("text");
            BytesWriter files = builder.bytes("image");
            Random random = new Random(3);
            for (int row = 0; row < ROWS; row++) {
                texts.add("text " + "x".repeat(random.nextInt(9)) + row);
                BufferedImage image = new BufferedImage(9 + row % 5, 8 + row % 3, BufferedImage.TYPE_INT_RGB);
                for (int i = 0; i < image.getWidth() * image.getHeight(); i++) {
                    image.setRGB(i % image.getWidth(), i / image.getWidth(), random.nextInt(1 << 24));
                }
                ByteArrayOutputStream encoded = new ByteArrayOutputStream();
                ImageIO.write(image, "png", encoded);
                files.add(ByteBuffer.wrap(encoded.toByteArray()));
            }
            builder.publish();
        }
        photos.close();
        photos = larder.dataset("columns");
    }

    @Test
    void imagesAndWhatCodeMakesOfBytesAreKept() throws IOException {
        publishColumns();
        Dtype ints = Dtype.parse("<i4");
        AtomicInteger calls = new AtomicInteger();
        Field lengths = Field.texts("text")
                .truncate(9)
                .map(ints, new long[] {2, 2, 1}, (row, result) -> {
                    calls.incrementAndGet();
                    result.putInt(4, row.capacity());
                    result.putInt(8, row.getByte(row.capacity() - 1));
                })
                .transform(new Transform()
                        .map(ints, new long[] {2, 2, 1}, (sample, result, random) -> result.put(sample))
                        .randomFlip(0.5f)
                        .cast(Dtype.parse("<f4"))
                        .map((values, shape, random) -> values[0] += random.nextFloat()));
        Field images = Field.images("image")
                .transform(new Transform()
                        .decode(Colours.RGB)
                        .resizeShorter(9)
                        .centerCrop(8, 8)
                        .randomFlip(0.5f)
                        .randomCrop(6, 6, 1)
                        .toFloat());

        for (Field field : List.of(lengths, images)) {
            long expected = checksum(field, builder -> builder);
            calls.set(0);
            Field kept = field.computed("kept", "1", Duration.ofSeconds(20));

            assertThat(checksum(kept, builder -> builder)).isEqualTo(expected);
            assertThat(checksum(kept, builder -> builder.threads(0))).isEqualTo(expected);
            assertThat(checksum(kept, builder -> builder.device(new FakeDevice())))
                    .isEqualTo(expected);
            assertThat(calls.get()).isEqualTo(field == lengths ? ROWS : 0);
        }
        assertThat(daemon.ask("info", "kept").out())
                .contains("steps    truncate(9); mapRow(", "; version 1", "resizeShorter(9", "; decoder ");
    }

    @Test
    void bytesThatDoNotBecomeRowsOfOneLengthAreRefused() throws IOException {
        publishColumns();
        Dtype bytes = Dtype.parse("|u1");
        Field text = Field.texts("text");

        assertThatThrownBy(() -> text.computed("kept"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("before computed");
        assertRefused(text.mapRagged(bytes, new long[] {9}, (row, result) -> 1).computed("kept", "1"), "map(dtype");
        assertRefused(
                text.map(bytes, new long[] {9}, (row, result) -> {}).computed("kept"), "computed(\"kept\", \"1\")");
        assertThatThrownBy(() -> checksum(Field.images("image").computed("kept"), builder -> builder))
                .hasMessageContaining("decoded images have no common size");
        Field draws =
                text.map(bytes, new long[] {9}, (row, result, random) -> result.putByte(0, (byte) random.nextInt(9)));
        assertThatThrownBy(() -> checksum(draws.computed("kept", "1"), builder -> builder))
                .isInstanceOf(LarderException.class)
                .hasMessageFindingMatch("no step before the first random one|draws random numbers");
    }

    @Test
    void loadersThatReadTheSameLongRowsInTheSameOrderShareTheWork() {
        int rowBytes = 150_000;
        AtomicInteger calls = new AtomicInteger();
        AtomicInteger running = new AtomicInteger();
        AtomicInteger together = new AtomicInteger();
        Transform slow = new Transform().map(Dtype.parse("|u1"), new long[] {rowBytes}, (sample, result, random) -> {
            calls.incrementAndGet();
            together.accumulateAndGet(running.incrementAndGet(), Math::max);
            LockSupport.parkNanos(20_000_000);
            running.decrementAndGet();
            result.put(sample.get(0));
        });
        Field field = Field.rows("image").transform(slow).computed("slow", "1");

        List<CompletableFuture<Long>> sums = IntStream.range(0, 4)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> {
                    try (Larder own = Larder.connect(daemon.store());
                            Dataset dataset = own.dataset("photos");
                            Loader loader = Loader.over(dataset)
                                    .fields(field)
                                    .shuffle(3)
                                    .batchSize(ROWS / 2)
                                    .threads(1)
                                    .build()) {
                        BatchChecksum sum = new BatchChecksum();
                        loader.epoch(0).forEach(sum::update);
                        return sum.value();
                    }
                }))
                .toList();

        assertThat(sums.stream().map(CompletableFuture::join).distinct()).hasSize(1);
        assertThat(calls).hasValue(ROWS);
        assertThat(together).as("rows that were computed at the same time").hasValueGreaterThan(1);
    }

    @Test
    void rowsOfAStoppedProcessHoldABatchUpOnce() throws Exception {
        Field field = Field.rows("image")
                .transform(new Transform().centerCrop(8, 8))
                .computed("held", "", Duration.ofMillis(500));
        long expected = checksum(Field.rows("image").transform(new Transform().centerCrop(8, 8)), builder -> builder);
        checksum(field, builder -> builder.shard(0, ROWS)); // has the region made
        Path file;
        try (RowsRegion region = StoredRows.require(daemon.store(), "held")) {
            file = region.file();
        }
        try (RowsRegion holder = Objects.requireNonNull(RowsRegion.tryOpen(daemon.store(), file))) {
            for (long row = 0; row < ROWS; row++) {
                assertThat(holder.tryClaim(row)).isTrue(); // and is stopped
            }
            long startNs = System.nanoTime();

            assertThat(checksum(field, builder -> builder.threads(1))).isEqualTo(expected);

            assertThat(Duration.ofNanos(System.nanoTime() - startNs))
                    .isBetween(Duration.ofMillis(400), Duration.ofSeconds(5));
        }
    }

    private void assertRefused(Field field, String remedy) {
        assertThatThrownBy(() -> checksum(field, builder -> builder))
                .isInstanceOfSatisfying(LarderException.class, e -> {
                    assertThat(e.code()).isEqualTo(ErrorCode.USAGE);
                    assertThat(e).hasMessageContaining(remedy);
                });
    }

    // ---- the command

    private ComputedRows compute(String name, long count) {
        ComputedRows rows = photos.rows(spec(name));
        read(rows, count, sums(photos, 0));
        return rows;
    }

    private static RowsSpec spec(String name) {
        return RowsSpec.of(name, "image").row("<i8", 2).version("1");
    }

    /** Makes of each image its row and the sum of its bytes. */
    private static RowComputation sums(Dataset photos, long micros) {
        return (row, result) -> {
            ByteBuffer image = photos.array("image").byteBuffer(row, 1);
            long sum = 0;
            while (image.hasRemaining()) {
                sum += image.get() & 0xff;
            }
            LockSupport.parkNanos(micros * 1000);
            result.putLong(row).putLong(sum);
        };
    }

    private static long read(ComputedRows rows, long count, RowComputation function) {
        ComputedRows.Reader reader = rows.reader(function);
        UnsafeBuffer target = new UnsafeBuffer(new byte[16]);
        long sums = 0;
        for (long row = 0; row < count; row++) {
            reader.copyRows(new long[] {row}, target, 0);
            assertThat(target.getLong(0)).isEqualTo(row);
            sums += target.getLong(8);
        }
        return sums;
    }

    private JsonObject json(String... words) {
        return JsonParser.parseString(daemon.ask(words).out()).getAsJsonObject();
    }

    @Test
    void theCommandListsDescribesChecksAndEvictsThem() throws IOException {
        ComputedRows rows = compute("sums", 10);
        JsonObject info = json("info", "sums", "--json");
        String region = info.get("name").getAsString();

        assertThat(region).matches("sums\\.[0-9a-f]{16}");
        assertThat(info.get("state").getAsString()).isEqualTo("computed");
        assertThat(info.get("published").getAsLong()).isEqualTo(10);
        assertThat(info.get("shape").toString()).isEqualTo("[60,2]");
        assertThat(daemon.ask("info", region).out()).contains("published 10 of 60 rows", "steps    version 1");
        assertThat(daemon.ask("ls").out()).contains("photos/image", region);
        assertThat(daemon.ask("ls", "sums").lines()).hasSize(2);
        assertThat(daemon.ask("verify", "sums").out()).isEqualTo("Verified: rows=10 of 60\n");
        assertThat(daemon.ask("evict", "sums").code()).isEqualTo(ErrorCode.REFUSED.number());

        spoil(info, 3);
        Answer damaged = daemon.ask("verify", "sums");
        assertThat(damaged.code()).isEqualTo(ErrorCode.CHECKSUM.number());
        assertThat(damaged.err()).contains("damaged=1 rows=3 file=", "larder evict " + region);

        photos.close();
        assertThat(rows.isOpen()).isFalse();
        assertThat(daemon.ask("evict", "sums").out()).startsWith("Evicted " + region);
        assertThat(daemon.ask("info", "sums").code()).isEqualTo(ErrorCode.NOT_FOUND.number());
    }

    private static void spoil(JsonObject info, long row) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(info.get("path").getAsString(), "rw")) {
            file.seek(info.get("offset").getAsLong() + row * 16);
            file.writeByte(77);
        }
    }

    @Test
    void frozenTheyAreADatasetLikeAnyOther() throws IOException {
        ComputedRows rows = compute("sums", 10);
        Answer early = daemon.ask("freeze", "sums");
        assertThat(early.code()).isEqualTo(ErrorCode.REFUSED.number());
        assertThat(early.err()).contains("published=10 rows=60; run an epoch");
        long sum = read(rows, ROWS, sums(photos, 0));

        assertThat(daemon.ask("freeze", "sums").out())
                .startsWith("Froze sums.")
                .contains(" as sums: files=1 bytes=960");

        try (Dataset frozen = larder.dataset("sums")) {
            long found = 0;
            for (long row = 0; row < ROWS; row++) {
                found += frozen.array(frozen.arrayNames().get(0)).getLong(row, 1);
            }
            assertThat(found).isEqualTo(sum);
        }
        assertThat(daemon.ask("verify", "sums").out()).startsWith("Verified: files=");
        Answer ambiguous = daemon.ask("evict", "sums");
        assertThat(ambiguous.code()).isEqualTo(ErrorCode.USAGE.number());
        assertThat(ambiguous.err())
                .contains("a dataset and computed rows have this name", "rows=sums." + key(), "evict --dataset sums");
        spoil(json("info", "sums." + key(), "--json"), 3);
        Answer damaged = daemon.ask("freeze", "sums", "--as", "other");
        assertThat(damaged.code()).isEqualTo(ErrorCode.CHECKSUM.number());
        assertThat(daemon.ask("info", "other").code()).isEqualTo(ErrorCode.NOT_FOUND.number());
        assertThat(daemon.ask("evict", "--dataset", "sums").out()).startsWith("Evicted sums:");
        assertThat(json("info", "sums", "--json").get("published").getAsLong()).isEqualTo(ROWS);
    }

    private String key() {
        return daemon.ask("regions")
                .out()
                .lines()
                .filter(line -> line.startsWith("sums."))
                .map(line -> line.substring("sums.".length(), "sums.".length() + 16))
                .findFirst()
                .orElseThrow();
    }

    // ---- Python

    private Process python(String name, String count) throws IOException {
        String script = """
                import sys, time
                sys.path.insert(0, %s)
                import numpy as np, larder
                calls = []
                def sums(image):
                    calls.append(1)
                    time.sleep(0.004)
                    row = numbers[image.tobytes()]
                    return np.array([row, image.sum(dtype="i8")])
                photos = larder.dataset("photos")
                numbers = {image.tobytes(): row for row, image in enumerate(photos["image"])}
                rows = larder.rows(sys.argv[1], photos, sums, "image", dtype="<i8", shape=2, version=1)
                print("open", flush=True)
                sys.stdin.readline()
                found = rows[:int(sys.argv[2])]
                assert (found[:, 0] == np.arange(len(found))).all()
                print(len(calls), found[:, 1].sum(), rows.computed_alone, flush=True)
                """.formatted("'" + PythonModules.TESTS + "'");
        ProcessBuilder python = new ProcessBuilder("python3", "-B", "-W", "error", "-c", script, name, count);
        python.environment()
                .putAll(Map.of(
                        "LARDER_STORE",
                        daemon.store().toString(),
                        "LARDER_COMMAND",
                        CommandProcess.script(folder).toString()));
        Process process = python.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        readers.add(process);
        assertThat(process.inputReader().readLine()).isEqualTo("open");
        return process;
    }

    private static String go(Process python) throws IOException {
        python.outputWriter().write("go\n");
        python.outputWriter().flush();
        return python.inputReader().readLine();
    }

    @Test
    void javaAndPythonReadWhatTheOtherHasComputed() throws Exception {
        PythonModules.requireNumpy("python3");
        long ten = read(compute("java", 10), 10, sums(photos, 0));

        Process reading = python("java", "20");
        String[] said = go(reading).split(" ", -1);

        assertThat(said[0]).isEqualTo("10"); // the ten that were missing
        ComputedRows rows = photos.rows(spec("java"));
        assertThat(rows.published()).isEqualTo(20);
        assertThat(read(rows, 20, sums(photos, 0)))
                .isEqualTo(Long.parseLong(said[1]))
                .isGreaterThan(ten);
        assertThat(rows.computed()).isEqualTo(10);
        assertThat(reading.waitFor()).isZero();

        assertThat(go(python("python", "5"))).startsWith("5 "); // Python has the region made
        assertThat(photos.rows(spec("python")).published()).isEqualTo(5);
        assertThat(daemon.ask("verify", "python").out()).isEqualTo("Verified: rows=5 of 60\n");
    }

    @Test
    void javaAndPythonTogetherComputeEachRowOnce() throws Exception {
        PythonModules.requireNumpy("python3");
        ComputedRows rows = photos.rows(spec("both"));
        Process python = python("both", "60");
        python.outputWriter().write("go\n");
        python.outputWriter().flush();

        long sum = read(rows, ROWS, sums(photos, 4_000));
        String[] said = python.inputReader().readLine().split(" ", -1);

        assertThat(Long.parseLong(said[0]) + rows.computed()).isEqualTo(ROWS);
        assertThat(said[0]).isNotEqualTo("0");
        assertThat(Long.parseLong(said[1])).isEqualTo(sum);
        assertThat(said[2]).isEqualTo("0");
        assertThat(rows.computedAlone()).isZero();
    }
}
