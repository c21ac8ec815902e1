package dev.larder.readers.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.reader.BadSource;
import dev.larder.reader.InputFile;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.testing.ReadArrays;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads types that Parquet files of Spark, DuckDB, polars and pandas often have; {@code golden/ordinary/make.py} has made the files. */
class OrdinaryFilesTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden/ordinary");

    private static Map<String, String> expected(String file) throws IOException {
        return Files.readAllLines(GOLDEN.resolve("expected.tsv")).stream()
                .map(line -> line.split("\t", -1))
                .filter(fields -> fields[0].equals(file))
                .collect(Collectors.toMap(fields -> fields[1], fields -> fields[2]));
    }

    private static Map<String, String> texts(Map<String, ReadArrays.Read> found) {
        Map<String, String> texts = new TreeMap<>();
        found.forEach((name, array) -> texts.put(name, array.text()));
        return texts;
    }

    private static Map<String, ReadArrays.Read> read(List<InputFile> files, String decimals, String... columns)
            throws IOException {
        return ReadArrays.of(new ParquetReader(), new ReadRequest(files, "arrays", List.of(columns), 2, decimals));
    }

    private static List<InputFile> files(String... names) {
        return Stream.of(names)
                .map(name -> new InputFile(GOLDEN.resolve(name), ""))
                .toList();
    }

    /** Returns the files of a folder of partitions, below a level, as the daemon lists them. */
    private static List<InputFile> partitions(String above) throws IOException {
        List<InputFile> files = new ArrayList<>();
        for (String name : Files.readAllLines(GOLDEN.resolve("hive.tsv"))) {
            files.add(new InputFile(
                    GOLDEN.resolve("hive").resolve(name), above + name.substring(0, name.lastIndexOf('/') + 1)));
        }
        return files;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "decimals.parquet",
                "decimals-as-integers.parquet",
                "decimals-of-polars.parquet",
                "decimals-of-duckdb.parquet",
                "int96.parquet",
                "nulls.parquet",
                "empty-groups.parquet",
                "geometry.parquet"
            })
    void everyValueIsThatOfPyarrow(String file) throws IOException {
        Map<String, ReadArrays.Read> found = read(files(file), "");

        assertThat(texts(found))
                .containsExactlyInAnyOrderEntriesOf(expected(file))
                .isNotEmpty();
    }

    @Test
    void aColumnWithoutATypeInOneFileHasThatOfTheOthers() throws IOException {
        Map<String, ReadArrays.Read> found = read(files("some-0.parquet", "some-1.parquet"), "");
        Map<String, ReadArrays.Read> reversed = read(files("some-1.parquet", "some-0.parquet"), "");

        assertThat(texts(found)).containsExactlyInAnyOrderEntriesOf(expected("some"));
        assertThat(reversed.keySet()).isEqualTo(found.keySet());
        assertThat(Objects.requireNonNull(reversed.get("number.mask")).bytes()).containsExactly(0, 0, 1, 1);
    }

    @Test
    void decimalsBecomeTheNearestDoublesOnRequest() throws IOException {
        for (String file : List.of("decimals.parquet", "decimals-as-integers.parquet")) {
            Map<String, ReadArrays.Read> found = read(files(file), ReadRequest.DOUBLES, "small", "large");

            ByteBuffer doubles = ByteBuffer.wrap(
                            Objects.requireNonNull(found.get("small")).bytes())
                    .order(ByteOrder.LITTLE_ENDIAN);
            assertThat(found).containsOnlyKeys("small", "large", "large.mask");
            assertThat(Stream.generate(doubles::getDouble).limit(5))
                    .containsExactly(-9_999_999.99, 123.45, 0.0, -0.01, 9_999_999.99);
        }
    }

    @Test
    void aTimeThatNanosecondsDoNotReachIsRefusedWithTheDay() {
        assertThatThrownBy(() -> read(files("int96-early.parquet"), ""))
                .isInstanceOfSatisfying(
                        BadSource.class,
                        e -> assertThat(e.remedy()).contains("TIMESTAMP_MICROS", "leave it out with --columns"))
                .hasMessageEndingWith("day=0001-01-01");
    }

    @Test
    void foldersOfPartitionsAreOneTableWithTheirValues() throws IOException {
        assertThat(texts(read(partitions(""), ""))).containsExactlyInAnyOrderEntriesOf(expected("hive"));
        assertThat(read(partitions("train/"), "", "train/year", "x")).containsOnlyKeys("train/year", "train/x");
    }

    @ParameterizedTest
    @CsvSource({
        "'', 'its folder names the partitions []'",
        "month=1/, 'its folder names the partitions [month]'",
        "city=x/year=1/, 'its folder names the partitions [city, year]'",
    })
    void foldersOfOtherPartitionsAreNoTable(String level, String reason) throws IOException {
        List<InputFile> files = new ArrayList<>(partitions(""));
        files.add(new InputFile(files.get(0).path(), level));

        assertThatThrownBy(() -> read(files, ""))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.file()).isEqualTo(files.size() - 1))
                .hasMessageContaining(reason);
    }

    @Test
    void aPartitionThatAFolderNamesTwiceIsRefused() {
        List<InputFile> twice = List.of(new InputFile(GOLDEN.resolve("geometry.parquet"), "year=1/year=2/"));

        assertThatThrownBy(() -> read(twice, ""))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("its folder names a partition twice: [year, year]");
    }

    @ParameterizedTest
    @CsvSource({"a%20b, a b", "100%, 100%", "%FF, %FF", "a+b, a+b", "%F0%9F%98%80, \uD83D\uDE00"})
    void valuesOfPartitionsAreDecodedOnlyIfTheyAreEncodedTexts(String folder, String value) {
        Partition found = Partition.of(new InputFile(GOLDEN, "t/key=" + folder + "/"));

        assertThat(found.values()).containsExactly(value);
        assertThat(found.file().level()).isEqualTo("t/");
    }
}
