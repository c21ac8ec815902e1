package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.client.ComputedRows;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchChecksum;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.device.fake.FakeDevice;
import dev.larder.loader.transform.Transform;
import dev.larder.loader.transform.Transforms;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.rows.RowFunction;
import dev.larder.rows.RowsSpec;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
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
        larder.close();
        daemon.close();
    }

    // ---- loaders

    private long checksum(Field field, UnaryOperator<LoaderBuilder> settings) {
        BatchChecksum sum = new BatchChecksum();
        LoaderBuilder builder = Loader.over(photos).fields(field).shuffle(3).batch(16);
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
        Transform tensor = Transforms.toFloat().normalize(0.5f, 0.25f).channelsFirst();

        assertSameBatches(tensor, "");
        assertSameBatches(tensor.randomCrop(8, 8, 2).randomFlip(0.5f), "");
        assertSameBatches(Transforms.centerCrop(10, 10).randomCrop(8, 8, 0).toFloat(), "");
        assertSameBatches(
                Transforms.toFloat()
                        .map((values, shape, random) -> values[0] = 2 * values[1])
                        .randomFlip(0.5f)
                        .map((values, shape, random) -> values[2] += random.nextFloat()),
                "1");
        assertThat(daemon.ask("regions").out()).contains("kept.");
    }

    @Test
    void aRowOfALoaderIsComputedOnceForAllLoadersAndEpochs() {
        AtomicInteger calls = new AtomicInteger();
        Transform steps = Transforms.map(Dtype.parse("<f4"), new long[] {4}, (sample, result, random) -> {
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
        Transform userCode = Transforms.toFloat().map((values, shape, random) -> values[0] = random.nextFloat());

        assertRefused(Field.rows("image").computed("kept"), "leave computed(…) out");
        assertRefused(
                Field.rows("image").transform(Transforms.randomFlip(0.5f)).computed("kept"), "leave computed(…) out");
        assertRefused(Field.rows("image").transform(userCode).computed("kept"), "computed(\"kept\", \"1\")");
        assertThatThrownBy(() ->
                        checksum(Field.rows("image").transform(userCode).computed("kept", "1"), builder -> builder))
                .hasMessageContaining("cannot transform a sample")
                .hasMessageContaining("draws random numbers")
                .hasMessageContaining("sample=");
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
    private static RowFunction sums(Dataset photos, long micros) {
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

    private static long read(ComputedRows rows, long count, RowFunction function) {
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
        spoil(json("info", "sums." + key(), "--json"), 3);
        Answer damaged = daemon.ask("freeze", "sums", "--as", "other");
        assertThat(damaged.code()).isEqualTo(ErrorCode.CHECKSUM.number());
        assertThat(daemon.ask("info", "other").code()).isEqualTo(ErrorCode.NOT_FOUND.number());
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
