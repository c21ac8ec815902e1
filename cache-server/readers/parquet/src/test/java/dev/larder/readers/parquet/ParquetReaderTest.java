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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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

    private static ReadArrays.Read array(Map<String, ReadArrays.Read> found, String name) {
        return Objects.requireNonNull(found.get(name), name);
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
        List<InputFile> parts = List.of(new InputFile(file, "New York/"), new InputFile(file, "other/"));

        assertThat(ReadArrays.of(new ParquetReader(), file, "pair/y")).containsOnlyKeys("pair/y", "pair/y.mask");
        assertThat(ReadArrays.of(
                        new ParquetReader(), new ReadRequest(parts, "arrays", List.of("New_York/f64", "f32"), 2)))
                .containsOnlyKeys("New York/f64", "New York/f32", "other/f32");
    }

    @ParameterizedTest
    @CsvSource({
        "deep, deep, row 1 of a batch has lists of different lengths within each other",
        "points, points.items/x, rows have null lists in them",
        "map, map.items/value, rows have null lists in them",
        "holes, holes, rows have null lists in them",
    })
    void whatCannotBeReadIsRefusedByItsName(String wanted, String column, String reason) {
        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), GOLDEN.resolve("refused.parquet"), wanted))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.column()).isEqualTo(column))
                .hasMessageContaining(reason);
    }

    @Test
    void listsInStructsAndStructsInListsHaveNamesOfTheirOwn() throws IOException {
        Path file = GOLDEN.resolve("nested.parquet");

        assertThat(texts(ReadArrays.of(new ParquetReader(), file)))
                .containsExactlyInAnyOrderEntriesOf(expected("nested.parquet"));
        assertThat(ReadArrays.of(new ParquetReader(), file, "xs"))
                .containsOnlyKeys("s/box/xs/values", "s/box/xs/offsets", "s/box/xs/shapes");
        assertThat(ReadArrays.of(new ParquetReader(), file, "points/y", "codes.items/key"))
                .containsOnlyKeys("points.offsets", "points.items/y", "codes.offsets", "codes.items/key");
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "dictionary", "delta"})
    void theLeastAndTheGreatestNumbersKeepTheirSigns(String encoding) throws IOException {
        String file = "extremes-" + encoding + ".parquet";

        assertThat(texts(ReadArrays.of(new ParquetReader(), GOLDEN.resolve(file))))
                .containsExactlyInAnyOrderEntriesOf(expected(file));
    }

    @Test
    void columnsWhosePathsEndAlikeHaveValuesOfTheirOwn() throws IOException {
        assertThat(texts(ReadArrays.of(new ParquetReader(), GOLDEN.resolve("names.parquet"))))
                .containsExactlyInAnyOrderEntriesOf(expected("names.parquet"));
    }

    @Test
    void durationsKeepTheUnitThatTheArrowSchemaHas() throws IOException {
        Path file = GOLDEN.resolve("durations.parquet");
        String[] allButTheMap = {"d_s", "d_ms", "d_us", "d_ns", "hole", "list", "st", "points", "plain"};

        assertThat(texts(ReadArrays.of(new ParquetReader(), file, allButTheMap)))
                .containsExactlyInAnyOrderEntriesOf(expected("durations.parquet"));
    }

    @Test
    void filesWithAndWithoutEmptyListsAreOneTable() throws IOException {
        List<InputFile> files = IntStream.range(0, 3)
                .mapToObj(number -> new InputFile(GOLDEN.resolve("full-" + number + ".parquet"), ""))
                .toList();

        Map<String, ReadArrays.Read> found =
                ReadArrays.of(new ParquetReader(), new ReadRequest(files, "arrays", List.of(), 2));

        assertThat(array(found, "list/offsets").longs()).containsExactly(0L, 2L, 3L, 4L, 4L, 4L, 6L, 7L, 9L);
        assertThat(array(found, "list/shapes").longs()).containsExactly(2L, 1L, 1L, 0L, 0L, 2L, 1L, 2L);
        assertThat(array(found, "list/values").bytes())
                .containsExactly(1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0);
        assertThat(array(found, "list.mask").bytes()).containsExactly(0, 0, 0, 1, 0, 0, 0, 0);
    }

    @Test
    void plainListsThatNoMetadataCountsMayBeNullOrEmpty() throws IOException {
        Map<String, ReadArrays.Read> found =
                ReadArrays.of(new ParquetReader(), GOLDEN.resolve("uncounted-lists.parquet"));

        assertThat(array(found, "list/offsets").longs()).containsExactly(0L, 2L, 2L, 2L, 3L);
        assertThat(array(found, "list/values").text())
                .isEqualTo("<f8 [3] 000000000000f83f00000000000000400000000000000840");
        assertThat(array(found, "list.mask").bytes()).containsExactly(0, 1, 0, 0);
    }

    @Test
    void repeatedFieldsWithoutTheMarkOfAListAreLists() throws IOException {
        Map<String, ReadArrays.Read> found = ReadArrays.of(new ParquetReader(), GOLDEN.resolve("bare-lists.parquet"));

        assertThat(found)
                .containsOnlyKeys(
                        "x/list.offsets",
                        "x/list.items/element",
                        "s/x/list.offsets",
                        "s/x/list.mask",
                        "s/x/list.items/element");
        assertThat(array(found, "x/list.offsets").longs()).containsExactly(0L, 2L, 2L, 3L, 3L);
        assertThat(array(found, "s/x/list.offsets").longs()).containsExactly(0L, 2L, 2L, 3L, 3L);
        assertThat(array(found, "s/x/list.mask").bytes()).containsExactly(0, 0, 0, 1);
    }

    @ParameterizedTest
    @CsvSource({
        "lengths, 'it cannot be read (lists have 2 elements in its Arrow schema, and one has 1)'",
        "boxes, 'it cannot be read (lists have 2 elements in its Arrow schema, and one has 1)'",
        "parts, 'it cannot be read (its Arrow schema has seconds, and a value has a fraction: milliseconds=1500)'",
    })
    void anArrowSchemaThatTheValuesContradictRefusesTheColumn(String column, String reason) {
        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), GOLDEN.resolve("lying-schema.parquet"), column))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.column()).isEqualTo(column))
                .hasMessage(reason);
    }

    private static Map<String, ReadArrays.Read> mixed(String column, int... numbers) throws IOException {
        List<InputFile> files = Arrays.stream(numbers)
                .mapToObj(number -> new InputFile(GOLDEN.resolve("mixed-" + number + ".parquet"), ""))
                .toList();
        return ReadArrays.of(new ParquetReader(), new ReadRequest(files, "arrays", List.of(column), 2));
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 0"})
    void codesOfTwoWidthsAreOneColumnOfIntegers(int first, int second) throws IOException {
        Map<String, ReadArrays.Read> words = mixed("word", first, second);
        Map<String, ReadArrays.Read> numbers = mixed("number", first, second);

        assertThat(words).containsOnlyKeys("word", "word.classes/bytes", "word.classes/offsets");
        assertThat(array(words, "word").text()).isEqualTo("<i4 [4] 00000000010000000000000001000000");
        assertThat(array(words, "word.classes/bytes").utf8()).isEqualTo("ba");
        assertThat(array(numbers, "number").text()).isEqualTo("<i4 [4] 00000000010000000000000001000000");
        assertThat(array(numbers, "number.classes").longs()).containsExactly(30L, 20L);
    }

    @ParameterizedTest
    @CsvSource({"0, 2, 1, bacaba", "2, 0, 1, cababa", "0, 1, 2, babaca"})
    void dictionariesBesidePlainValuesAreTheseValues(int first, int second, int third, String texts)
            throws IOException {
        Map<String, ReadArrays.Read> words = mixed("word", first, second, third);
        Map<String, ReadArrays.Read> numbers = mixed("number", first, second, third);

        assertThat(words).containsOnlyKeys("word/bytes", "word/offsets");
        assertThat(array(words, "word/bytes").utf8()).isEqualTo(texts);
        assertThat(array(words, "word/offsets").longs()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L);
        assertThat(numbers).containsOnlyKeys("number");
        assertThat(array(numbers, "number").longs()).containsExactly(30L, 20L, 30L, 20L, 30L, 20L);
    }

    @ParameterizedTest
    @CsvSource({
        "2, 0, '[7, 1, 2, 3, 4]', '[0, 1, 1, 3, 5]'",
        "0, 2, '[1, 2, 3, 4, 7]', '[0, 2, 4, 5, 5]'",
        "1, 3, '[5, 6, 8, 9]', '[0, 2, 2, 3, 4]'",
    })
    void listsOfTwoLengthsAreRagged(int first, int second, String values, String offsets) throws IOException {
        Map<String, ReadArrays.Read> found = mixed("list", first, second);

        ByteBuffer numbers =
                ByteBuffer.wrap(array(found, "list/values").bytes()).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(IntStream.generate(numbers::getInt)
                        .limit(numbers.capacity() / 4)
                        .boxed()
                        .toList())
                .hasToString(values);
        assertThat(array(found, "list/offsets").longs()).hasToString(offsets);
        assertThat(found.containsKey("list.mask")).isEqualTo(first == 1);
    }

    @ParameterizedTest
    @CsvSource({
        "word, 'it is |i1 CODES of |u1 BYTES, but in the files before it |i1 CODES of |u1 STRINGS'",
        "number, 'it is |i1 CODES of <i4 NUMBERS, but in the files before it |i1 CODES of <i8 NUMBERS'",
    })
    void dictionariesOfOtherTypesAreNoTable(String column, String reason) {
        assertThatThrownBy(() -> mixed(column, 0, 3))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.remedy()).startsWith("write all files with one schema"))
                .hasMessage(reason);
    }

    @ParameterizedTest
    @CsvSource({
        "full, 'lists have 1073741824 elements in its Arrow schema, and one has 2'",
        "hole, 'lists have 1073741824 elements in its Arrow schema, and one has 2'",
        "empty, 'lists have 1073741824 elements in its Arrow schema, and one has 2'",
        "null, 'no value shows that its rows have 4294967296 bytes each, as in its schema'",
        "box, 'lists have 65536 elements in its Arrow schema, and one has 1'",
        "deep, 'lists have 2147483647 elements in its Arrow schema, and one has 1'",
        "bytes, 'no value shows that its rows have 16777216 bytes each, as in its schema'",
    })
    void aLengthThatNoValueProvesIsRefusedBeforeAnythingIsOffered(String column, String reason) {
        for (String file : List.of("forged-counted.parquet", "forged-uncounted.parquet")) {
            assertThatThrownBy(() -> look(file, column))
                    .isInstanceOf(BadSource.class)
                    .hasMessageContaining(reason);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"number", "hole", "word", "code", "uuid", "fixed", "list", "text"})
    void rowsThatOnlyTheFooterHasAreRefusedBeforeAnythingIsOffered(String column) {
        assertThatThrownBy(() -> look("many-rows.parquet", column))
                .isInstanceOf(BadSource.class)
                .hasMessage("it has 77 rows, and its metadata 1099511627776");
        assertThatThrownBy(() -> look("many-values.parquet", column))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("1099511627776 values but pages contain 77");
    }

    @Test
    void columnsOfOneValuePackTighterThanClaimsAreBelievedAndLoad() throws IOException {
        assertThat(texts(ReadArrays.of(new ParquetReader(), GOLDEN.resolve("constant.parquet"))))
                .containsExactlyInAnyOrderEntriesOf(expected("constant.parquet"));
    }

    /** Opens a file as far as its offers, whose bytes the daemon then reserves. */
    private static void look(String file, String column) throws IOException {
        List<InputFile> files = List.of(new InputFile(GOLDEN.resolve(file), ""));
        new ParquetReader()
                .open(new ReadRequest(files, "arrays", List.of(column), 2), bytes -> {})
                .close();
    }

    @Test
    void anArrowSchemaOfOtherTypesIsIgnored() throws IOException {
        Map<String, ReadArrays.Read> found = ReadArrays.of(
                new ParquetReader(),
                GOLDEN.resolve("lying-schema.parquet"),
                "number",
                "stamp",
                "text",
                "bare",
                "days",
                "list");

        assertThat(found.keySet())
                .contains("number", "stamp", "text/bytes", "bare", "days", "list/values")
                .hasSize(9);
        assertThat(found.values())
                .extracting(read -> read.offer().dtype())
                .containsExactly("<i4", "<M8[us]", "|u1", "<i8", "<i8", "<i4", "<i8", "<i8", "<i8");
    }

    @Test
    void durationsWithoutAnArrowSchemaAreBareIntegers() throws IOException {
        Map<String, ReadArrays.Read> found = ReadArrays.of(new ParquetReader(), GOLDEN.resolve("bare.parquet"));

        String expected = String.valueOf(expected("durations.parquet").get("d_us"));
        assertThat(texts(found)).containsOnly(Map.entry("d_us", expected.replace("<m8[us]", "<i8")));
    }

    @Test
    void durationsOfOneTableHaveOneUnit() {
        List<InputFile> files = Stream.of("durations", "bare")
                .map(name -> new InputFile(GOLDEN.resolve(name + ".parquet"), ""))
                .toList();

        assertThatThrownBy(
                        () -> ReadArrays.of(new ParquetReader(), new ReadRequest(files, "arrays", List.of("d_us"), 1)))
                .isInstanceOf(BadSource.class)
                .hasMessage("it is <i8 NUMBERS, but in the files before it <m8[us] NUMBERS");
    }

    @ParameterizedTest
    @CsvSource({
        "narrow-times, 'its types contradict each other: INT32 cannot be TIMESTAMP(MICROS, local)'",
        "large-byte, 'it cannot be read (a value is out of the range of its type: value=300 type=|i1)'",
        "lost-column, its schema and its row groups have different columns",
    })
    void filesThatContradictThemselvesGiveNoValues(String file, String reason) {
        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), GOLDEN.resolve(file + ".parquet")))
                .isInstanceOfSatisfying(
                        BadSource.class,
                        e -> assertThat(e.remedy())
                                .contains(
                                        "restore the file or write it again, or leave it out of its folder with --exclude"))
                .hasMessage(reason);
    }

    @Test
    void encryptionIsNotCalledDamage() {
        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), GOLDEN.resolve("encrypted.parquet")))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.remedy()).startsWith("write it again without encryption"))
                .hasMessage("it is encrypted");
    }

    @Test
    void metadataThatTellsOfNoNullsIsNotBelieved() {
        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), GOLDEN.resolve("lying.parquet")))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("its metadata has no null rows, and its values have some");
    }

    /** A damaged file gives other numbers, or a refusal. */
    @Test
    void aDamagedFileIsAnIoExceptionAtMost() throws IOException {
        List<byte[]> wholes = new ArrayList<>();
        for (String name : List.of(
                "dictionary",
                "nested",
                "plain",
                "gzip",
                "zstd",
                "brotli",
                "lz4",
                "refused",
                "durations",
                "names",
                "bare-lists")) {
            wholes.add(Files.readAllBytes(GOLDEN.resolve(name + ".parquet")));
        }
        for (String pieces : List.of("types.parquet", "types-in-pieces.parquet")) {
            wholes.add(Files.readAllBytes(EveryFormatTest.TABLES.resolve(pieces)));
        }
        for (String codec : List.of("none", "snappy", "gzip", "zstd", "lz4", "brotli")) {
            wholes.add(Files.readAllBytes(GOLDEN.resolve("tiny/" + codec + "-1.parquet")));
            wholes.add(Files.readAllBytes(GOLDEN.resolve("tiny/" + codec + "-2.parquet")));
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
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.offset()).isEqualTo(56_242))
                .hasMessage("a page extends beyond the end of its column: bytes=27 left=13");
    }

    /** The library would write that many bytes, wherever they end. */
    @Test
    void snappyThatUnpacksToMoreThanItsPageSaysIsRefused() throws IOException {
        byte[] damaged = Files.readAllBytes(GOLDEN.resolve("dictionary.parquet"));
        damaged[22] = 127; // in the length that Snappy begins with, behind the header of the first page
        Path file = Files.write(folder.resolve("x.parquet"), damaged);

        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), file, "i8"))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.offset()).isEqualTo(4))
                .hasMessage("a page claims 272 bytes when it is unpacked, and its packed data has another length");
    }

    @Test
    void aPageThatClaimsMoreThanItsBytesCanBecomeIsRefused() throws IOException {
        byte[] damaged = Files.readAllBytes(GOLDEN.resolve("dictionary.parquet"));
        damaged[7] = (byte) 254; // in the length that the first page says it has when it is unpacked
        damaged[8] = 127;
        damaged[21] = (byte) 255; // and Snappy says the same
        damaged[22] = 63;
        Path file = Files.write(folder.resolve("x.parquet"), damaged);

        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), file, "i8"))
                .isInstanceOf(BadSource.class)
                .hasMessage("a page of 277 bytes cannot become 8191 bytes");
    }

    @Test
    void aFooterThatClaimsALongerTextThanItselfIsRefusedAndTakesNoMemory() throws IOException {
        byte[] damaged = Files.readAllBytes(GOLDEN.resolve("plain.parquet"));
        byte[] length = {-1, -1, -1, -1, 7}; // 2 GiB
        System.arraycopy(length, 0, damaged, 69_065, length.length); // of the name of its schema
        Path file = Files.write(folder.resolve("x.parquet"), damaged);

        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), file))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("a text or list is longer than the bytes left: length=2147483647");
    }

    @Test
    void aFooterWithOtherRowsThanThoseOfItsRowGroupsIsRefused() throws IOException {
        byte[] damaged = Files.readAllBytes(GOLDEN.resolve("plain.parquet"));
        damaged[69_538]--; // the lowest byte of how many rows there are
        Path file = Files.write(folder.resolve("x.parquet"), damaged);

        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), file))
                .isInstanceOf(BadSource.class)
                .hasMessage("its footer claims -500 rows, and its row groups have 500");
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "snappy", "gzip", "zstd", "lz4", "brotli"})
    void anIndexOfPagesChangesNothing(String codec) throws IOException {
        Map<String, String> without =
                texts(ReadArrays.of(new ParquetReader(), GOLDEN.resolve("tiny/" + codec + "-1.parquet")));

        assertThat(texts(ReadArrays.of(new ParquetReader(), GOLDEN.resolve("tiny/" + codec + "-2.parquet"))))
                .isEqualTo(without)
                .containsKeys("number", "word/bytes", "list/values", "hole.mask");
    }

    @Test
    void allColumnsThatCannotBeReadAreNamedAtOnceAndThoseThatCan() {
        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), GOLDEN.resolve("refused.parquet")))
                .isInstanceOfSatisfying(
                        BadSource.class,
                        e -> assertThat(e.remedy()).isEqualTo("load others with --columns good,map.items/key"))
                .hasMessageStartingWith("4 columns cannot be read: ")
                .hasMessageContaining("holes (rows have null lists in them)")
                .hasMessageContaining("points.items/x (rows have null lists in them)");
    }

    @Test
    void aFileThatLacksAColumnIsNamed() {
        List<InputFile> files = Stream.of("refused", "nested")
                .map(name -> new InputFile(GOLDEN.resolve(name + ".parquet"), ""))
                .toList();

        assertThatThrownBy(() ->
                        ReadArrays.of(new ParquetReader(), new ReadRequest(files, "arrays", List.of("good", "n"), 1)))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.file()).isEqualTo(1))
                .hasMessageContaining("good (it has no such column, and refused.parquet has)");
    }

    @Test
    void aFileThatIsGoneIsNotCalledDamage() {
        assertThatThrownBy(() -> ReadArrays.of(new ParquetReader(), folder.resolve("none.parquet")))
                .isInstanceOfSatisfying(
                        BadSource.class,
                        e -> assertThat(e.remedy()).isEqualTo("check that the file is there and readable"))
                .hasMessage("it does not exist");
    }

    private boolean isRead(byte[] bytes) {
        Path file = folder.resolve("none");
        try {
            file = Files.write(Files.createTempFile(folder, "x", ".parquet"), bytes);
            return !ReadArrays.of(new ParquetReader(), file).isEmpty();
        } catch (IOException | OutOfMemoryError refused) { // a reader that has no memory left ends
            return false;
        } finally {
            folder.resolve(file).toFile().delete();
        }
    }
}
