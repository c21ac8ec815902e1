package dev.larder.readers.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.reader.BadSource;
import dev.larder.reader.InputFile;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.testing.ReadArrays;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads what pyarrow has written; {@code golden/make.py} has made the files, and says what is in them. */
class ParquetReaderTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden");

    @TempDir
    Path folder;

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

    @ParameterizedTest
    @ValueSource(strings = {"plain", "dictionary", "gzip", "zstd", "lz4", "brotli"})
    void everyColumnIsAsNumpyHasIt(String codec) throws IOException {
        String file = codec + ".parquet";

        Map<String, ReadArrays.Read> found = ReadArrays.of(new ParquetReader(), GOLDEN.resolve(file));

        assertThat(texts(found))
                .containsExactlyInAnyOrderEntriesOf(expected(file))
                .hasSizeGreaterThan(35);
    }

    @Test
    void filesOfOneLevelAreOneTable() throws IOException {
        List<InputFile> parts = IntStream.range(0, 4)
                .mapToObj(part -> new InputFile(GOLDEN.resolve("table/part-" + part + ".parquet"), "t/"))
                .toList();

        Map<String, ReadArrays.Read> found =
                ReadArrays.of(new ParquetReader(), new ReadRequest(parts, "arrays", List.of(), 3));

        Map<String, String> expected = new TreeMap<>();
        expected("plain.parquet").forEach((name, text) -> expected.put("t/" + name, text));
        assertThat(texts(found)).containsExactlyInAnyOrderEntriesOf(expected);
    }

    @Test
    void onlyColumnsThatAreWantedAreRead() throws IOException {
        assertThat(ReadArrays.of(new ParquetReader(), GOLDEN.resolve("plain.parquet"), "f64", "word", "y"))
                .containsOnlyKeys("f64", "word/bytes", "word/offsets", "pair/y", "pair/y.mask");
        assertThat(ReadArrays.of(new ParquetReader(), GOLDEN.resolve("refused.parquet"), "good"))
                .containsOnlyKeys("good");
    }

    @Test
    void columnsAreWantedByTheirLevels() throws IOException {
        Path file = GOLDEN.resolve("plain.parquet");
        List<InputFile> parts = List.of(new InputFile(file, "c=New York/"), new InputFile(file, "other/"));

        assertThat(ReadArrays.of(new ParquetReader(), file, "pair/y")).containsOnlyKeys("pair/y", "pair/y.mask");
        assertThat(ReadArrays.of(
                        new ParquetReader(), new ReadRequest(parts, "arrays", List.of("c=New_York/f64", "f32"), 2)))
                .containsOnlyKeys("c=New York/f64", "c=New York/f32", "other/f32");
    }

    @ParameterizedTest
    @CsvSource({
        "decimal, its type is not one that numpy or a column has: FIXED_LEN_BYTE_ARRAY DECIMAL",
        "deep, its type is not one that numpy or a column has: INT64 in lists",
        "words, its type is not one that numpy or a column has: BYTE_ARRAY",
        "map, its type is not one that numpy or a column has",
        "holes, its lists have nulls",
    })
    void whatCannotBeReadIsRefusedByItsName(String column, String reason) {
        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), GOLDEN.resolve("refused.parquet"), column))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.column()).isEqualTo(column))
                .hasMessageContaining(reason);
    }

    @Test
    void listsInStructsAndStructsInListsHaveNamesOfTheirOwn() throws IOException {
        Path file = GOLDEN.resolve("nested.parquet");

        assertThat(texts(ReadArrays.of(new ParquetReader(), file, "s", "points")))
                .containsExactlyInAnyOrderEntriesOf(expected("nested.parquet"));
        assertThat(ReadArrays.of(new ParquetReader(), file, "xs"))
                .containsOnlyKeys("s/box/xs/values", "s/box/xs/offsets", "s/box/xs/shapes");
        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), file, "codes"))
                .hasMessageContaining("INT32 in maps");
    }

    @Test
    void metadataThatTellsOfNoNullsIsNotBelieved() {
        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), GOLDEN.resolve("lying.parquet")))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("its metadata says that no row is null, and some are");
    }

    /** A damaged file gives other numbers, or a refusal. */
    @Test
    void aDamagedFileIsAnIoExceptionAtMost() throws IOException {
        List<byte[]> wholes = new ArrayList<>();
        for (String name : List.of("dictionary", "nested", "plain", "gzip", "zstd", "brotli", "lz4", "refused")) {
            wholes.add(Files.readAllBytes(GOLDEN.resolve(name + ".parquet")));
        }
        Random random = new Random(20_261_123);
        for (int round = 0; round < Integer.getInteger("larder.rounds", 40); round++) {
            byte[] damaged = wholes.get(round % wholes.size()).clone();
            for (int i = 0; i < 8; i++) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            var unused = isRead(damaged);
        }
        for (byte[] whole : wholes) {
            assertThat(isRead(Arrays.copyOf(whole, whole.length / 2))).isFalse();
        }
    }

    @Test
    void aPageThatIsLongerThanItsColumnIsRefused() throws IOException {
        byte[] damaged = Files.readAllBytes(GOLDEN.resolve("dictionary.parquet"));
        damaged[56_300] = (byte) 199; // in the length that a page says it has
        Path file = Files.write(folder.resolve("x.parquet"), damaged);

        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), file))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("a page goes on after the end of its column: offset=56332");
    }

    private boolean isRead(byte[] bytes) {
        Path file = folder.resolve("none");
        try {
            file = Files.write(Files.createTempFile(folder, "x", ".parquet"), bytes);
            return !ReadArrays.of(new ParquetReader(), file).isEmpty();
        } catch (IOException refused) {
            return false;
        } finally {
            folder.resolve(file).toFile().delete();
        }
    }
}
