package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Arrow files and folders that Hugging Face wrote, through a daemon and back. */
@Timeout(300)
class ArrowLoadTest {
    private static final int SEED = 20_261_125;

    @TempDir
    private Path folder;

    private ServedStore served;

    @BeforeEach
    void start() {
        served = ServedStore.create();
        served.start();
    }

    @AfterEach
    void stop() {
        served.close();
    }

    private static Path golden(String name) {
        try {
            return Path.of(Objects.requireNonNull(ArrowLoadTest.class.getResource("/arrow/refused.tsv"))
                            .toURI())
                    .resolveSibling(name);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private Done load(String name, Path path, LoadOptions options) {
        LoadRequest.Source source = new LoadRequest.Source(name, path.toString());
        return served.control().load(new LoadRequest(List.of(source), options, 2), progress -> {});
    }

    /** Returns what the daemon stored: name, type, shape and checksum of each array. */
    private List<String> stored(String name) {
        List<String> stored = new ArrayList<>();
        for (ArrayRow row : served.control().list(name + "/", false)) {
            stored.add(row.name().substring(name.length()) + " " + row.dtype() + row.shape() + row.crc32c());
        }
        return stored;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"saved", "cache", "numbers-file", "numbers-legacy", "dictionaries-stream", "replaced", "times"})
    void whatIsStoredIsWhatPyarrowReads(String name) {
        Path source = golden(name + ".arrow");
        load("arrow", Files.exists(source) ? source : golden(name), LoadOptions.none());
        load("expected", golden(name + ".npz"), LoadOptions.none());

        List<String> arrow = stored("arrow");
        List<String> expected = stored("expected");
        expected.removeIf(line -> line.startsWith("/holes "));
        arrow.removeIf(line -> line.startsWith("/holes ")); // what lies under its nulls is nobody's
        assertThat(arrow).isEqualTo(expected);
    }

    @Test
    void textsLabelsListsAndFilesAreReadByTheirColumns() {
        load("d", golden("saved"), LoadOptions.none());

        try (Larder larder = Larder.connect(served.root());
                Dataset d = larder.dataset("d")) {
            long label = d.array("train/label").getLong(3);
            assertThat(d.strings("classes").get(label)).isIn("neg", "pös");
            assertThat(d.strings("train/text").rows()).isEqualTo(16);
            assertThat(d.array("test/grid").shape()).containsExactly(7, 2, 3);
            assertThat(d.ragged("train/ids").rows()).isEqualTo(16);
            assertThat(d.bytes("train/image").name(3)).isEqualTo("3.png");
            assertThat(d.array("train/image.mask").getLong(4)).isEqualTo(1);
            assertThat(d.bytes("train/image").row(4).capacity()).isZero();
        }
    }

    private Path copied(String name) throws IOException {
        Path target = folder.resolve(name);
        try (Stream<Path> files = Files.walk(golden(name))) {
            for (Path file : files.sorted().toList()) {
                Files.copy(file, target.resolve(golden(name).relativize(file).toString()));
            }
        }
        return target;
    }

    @Test
    void aFolderIsKnownByItsFilesAndReadAgainWhereOneHasChanged() throws IOException {
        Path source = copied("saved-split");
        load("d", source, LoadOptions.none());

        assertThat(load("d", source, LoadOptions.none().withStrict(true)).message())
                .contains("d is unchanged: version=1");
        assertThat(served.control().verifyAgainstSources("d", progress -> {}).files())
                .isGreaterThan(20);

        byte[] shard = Files.readAllBytes(source.resolve("data-00001-of-00003.arrow"));
        shard[shard.length - 16] ^= 1; // the last buffer, before the mark of the end
        Files.write(source.resolve("data-00001-of-00003.arrow"), shard);
        assertThatThrownBy(() -> served.control().verifyAgainstSources("d", progress -> {}))
                .hasMessageContaining("sources differ from the loaded data");
        assertThat(load("d", source, LoadOptions.none()).message()).contains("d has changed: version=2");

        Files.delete(source.resolve("data-00001-of-00003.arrow"));
        assertThatThrownBy(() -> load("d", source, LoadOptions.none()))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("it lists data-00001-of-00003.arrow, which is missing");
    }

    @Test
    void columnsOfOneBatchCanStayWhereTheyAre() {
        LoadOptions inPlace = LoadOptions.none().withInPlace(true);
        Path file = golden("one-batch.arrow");
        load("d", file, inPlace.withKeys(List.of("f8", "i2")));

        assertThat(served.control().list("d/", false))
                .allSatisfy(row -> assertThat(row.path()).isEqualTo(file.toString()))
                .hasSize(2);
        assertThatThrownBy(() -> load("bits", file, inPlace.withKeys(List.of("bool"))))
                .hasMessageContaining("its data is compressed, or has to be computed");
        assertThatThrownBy(() -> load("many", golden("numbers-file.arrow"), inPlace.withKeys(List.of("f8"))))
                .hasMessageContaining("its data is in 4 pieces");
        try (Larder larder = Larder.connect(served.root());
                Dataset d = larder.dataset("d")) {
            load("expected", golden("one-batch.npz"), LoadOptions.none());
            try (Dataset expected = larder.dataset("expected")) {
                for (long row = 0; row < 23; row++) {
                    assertThat(d.array("f8").getDouble(row))
                            .isEqualTo(expected.array("f8").getDouble(row));
                }
            }
        }
    }

    @Test
    void columnsOfManyBatchesHaveTheChecksumsOfTheirBytesWhicheverAreChosen() throws IOException {
        int columns = 6;
        Random random = new Random(SEED);
        List<CRC32C> sums = Stream.generate(CRC32C::new).limit(columns).toList();
        Path file = folder.resolve("table.arrows");
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
            ArrowStreams.schema(out, columns);
            for (int batch = 0; batch < 1500; batch++) {
                int rows = 8 * (1 + random.nextInt(1500));
                byte[] body = new byte[columns * rows];
                random.nextBytes(body);
                ArrowStreams.batch(out, columns, body);
                for (int i = 0; i < columns; i++) {
                    sums.get(i).update(body, i * rows, rows);
                }
            }
            ArrowStreams.end(out);
        }

        load("all", file, LoadOptions.none());
        load("chosen", file, LoadOptions.none().withKeys(List.of("column0", "column1", "column4", "column5")));

        assertThat(served.control().list("", false)).hasSize(columns + 4).allSatisfy(row -> {
            int column = row.name().charAt(row.name().length() - 1) - '0';
            assertThat(row.crc32c())
                    .as(row.name())
                    .isEqualTo(String.format("%08x", sums.get(column).getValue()));
        });
    }

    @Test
    void columnsAreChosen() {
        load("d", golden("saved"), LoadOptions.none().withKeys(List.of("label", "text")));

        assertThat(served.control().list("d/", false))
                .extracting(ArrayRow::name)
                .containsExactly(
                        "d/classes/bytes",
                        "d/classes/offsets",
                        "d/test/label",
                        "d/test/text/bytes",
                        "d/test/text/offsets",
                        "d/train/label",
                        "d/train/text/bytes",
                        "d/train/text/offsets");
    }
}
