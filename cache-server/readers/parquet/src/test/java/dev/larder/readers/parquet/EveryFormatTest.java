package dev.larder.readers.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.larder.error.LarderException;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.reader.BadSource;
import dev.larder.reader.FormatReader;
import dev.larder.reader.InputFile;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.testing.ReadArrays;
import dev.larder.readers.hdf5.Hdf5Reader;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.scan.ScannedSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One table as each format has it gives one set of arrays. pyarrow and h5py have written it ({@code make.py} beside it), and numpy has built the
 * arrays. It is here because this module needs the newest Java of all readers.
 */
class EveryFormatTest {
    static final Path TABLES = Path.of("../api/src/test/resources/types");

    private static Map<String, String> ofDaemon(String file, String... columns) throws IOException {
        return ofDaemon(file, new SourceOptions(List.of(columns)));
    }

    private static Map<String, String> ofDaemon(String file, SourceOptions options) throws IOException {
        ScannedSource source = ScannedSource.scan("d", TABLES.resolve(file), options, ScanSettings.quick());
        Map<String, byte[]> bytes = new TreeMap<>();
        for (SourceArray array : source.arrays()) {
            bytes.put(array.name().array(), data(array));
        }
        Map<String, String> texts = new TreeMap<>();
        for (SourceArray array : source.arrays()) {
            String name = array.name().array();
            byte[] known = known(data(array), bytes.get(name + ".mask"));
            texts.put(name, text(array.part().name(), array.dtype().descr(), Arrays.toString(array.shape()), known));
        }
        source.arrays().forEach(SourceArray::release);
        return texts;
    }

    private static byte[] data(SourceArray array) throws IOException {
        ByteBuffer data = ByteBuffer.allocate((int) array.byteSize());
        try (ReadableByteChannel channel = array.open()) {
            while (data.hasRemaining() && channel.read(data) >= 0) {
                // until it is full
            }
        }
        return data.array();
    }

    /** Returns the bytes of an array, with zeros in rows that are masked: what lies there is nobody's. */
    private static byte[] known(byte[] bytes, byte @Nullable [] mask) {
        if (mask == null) {
            return bytes;
        }
        int rowBytes = bytes.length / mask.length;
        for (int row = 0; row < mask.length; row++) {
            if (mask[row] != 0) {
                Arrays.fill(bytes, row * rowBytes, (row + 1) * rowBytes, (byte) 0);
            }
        }
        return bytes;
    }

    private static String text(String part, String dtype, String shape, byte[] bytes) {
        return part + " " + dtype + " " + shape + " " + HexFormat.of().formatHex(bytes);
    }

    private static Map<String, String> ofReader(FormatReader reader, String file) throws IOException {
        return ofReader(reader, file, "");
    }

    private static Map<String, String> ofReader(FormatReader reader, String file, String decimals) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        List<InputFile> files = List.of(new InputFile(TABLES.resolve(file), ""));
        ReadArrays.of(reader, new ReadRequest(files, "arrays", List.of(), 2, decimals))
                .forEach((name, read) -> texts.put(
                        name,
                        text(
                                read.offer().part(),
                                read.offer().dtype(),
                                read.offer().shape().toString(),
                                read.bytes())));
        return texts;
    }

    /** Returns what numpy has, where arrays are not parts of columns. */
    private static Map<String, String> expected(Map<String, String> found) throws IOException {
        Map<String, String> expected = ofDaemon("types.npz");
        expected.replaceAll((name, text) -> {
            String its = found.getOrDefault(name, "NONE");
            return its.substring(0, its.indexOf(' ')) + text.substring(text.indexOf(' '));
        });
        return expected;
    }

    @Test
    void arrowIsTheRule() throws IOException {
        Map<String, String> arrow = ofDaemon("types.arrow");

        assertThat(arrow).containsExactlyInAnyOrderEntriesOf(expected(arrow)).hasSizeGreaterThan(250);
    }

    @ParameterizedTest
    @ValueSource(strings = {"types.parquet", "types-in-pieces.parquet"})
    void parquetGivesWhatArrowGives(String file) throws IOException {
        assertThat(ofReader(new ParquetReader(), file)).containsExactlyInAnyOrderEntriesOf(ofDaemon("types.arrow"));
    }

    @Test
    void decimalsBecomeTheSameDoubles() throws IOException {
        LoadOptions doubles = LoadOptions.none().withDecimals("f8");

        Map<String, String> arrow = ofDaemon("types.arrow", SourceOptions.of(doubles));

        assertThat(ofReader(new ParquetReader(), "types.parquet", "f8")).containsExactlyInAnyOrderEntriesOf(arrow);
        assertThat(arrow)
                .containsEntry("decimal128_10", "NONE <f8 [7] " + hex(0.07, -0.7, 7, -70, 700, -7000, 70_000))
                .containsKey("list_of_decimals/values")
                .doesNotContainKeys("decimal128_10.scale", "list_of_decimals.scale");
    }

    private static String hex(double... numbers) {
        ByteBuffer bytes =
                ByteBuffer.allocate(numbers.length * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asDoubleBuffer().put(numbers);
        return HexFormat.of().formatHex(bytes.array());
    }

    @Test
    void hdf5GivesTheSameOfTheTypesThatItHas() throws IOException {
        Map<String, String> hdf5 = ofReader(new Hdf5Reader(), "types.h5");

        assertThat(ofDaemon("types.arrow")).containsAllEntriesOf(hdf5);
        assertThat(hdf5).hasSizeGreaterThan(20);
    }

    @Test
    void tablesOfTextGiveTheSameOfTheTypesThatTheyHave() throws IOException {
        assertThat(ofDaemon("types.arrow")).containsAllEntriesOf(ofDaemon("types.csv"));
    }

    static List<String[]> refused() throws IOException {
        return Files.readAllLines(TABLES.resolve("refused.tsv")).stream()
                .map(line -> line.split("\t", -1))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("refused")
    void whatIsRefusedIsRefusedInTheSameWords(String column, String words) {
        Throwable arrow = catchThrowable(() -> ofDaemon("refused.arrow", column));
        Throwable parquet =
                catchThrowable(() -> ReadArrays.of(new ParquetReader(), TABLES.resolve("refused.parquet"), column));

        assertThat(arrow).isInstanceOf(LarderException.class).hasMessageContaining(words);
        assertThat(parquet).isInstanceOf(BadSource.class).hasMessageContaining(words);
    }
}
