package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.server.source.Extent;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files and folders that pyarrow and Hugging Face's datasets wrote, beside what they read from them ({@code make_arrow.py}). */
class ArrowScanTest {
    @TempDir
    Path folder;

    static Path golden(String name) {
        try {
            return Path.of(Objects.requireNonNull(ArrowScanTest.class.getResource("/arrow/refused.tsv"))
                            .toURI())
                    .resolveSibling(name);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ScannedSource scan(Path path, String... columns) {
        return ScannedSource.scan("d", path, new SourceOptions(List.of(columns)));
    }

    static List<String> sources() throws IOException {
        try (Stream<Path> files = Files.list(golden(""))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".npz"))
                    .map(name -> name.substring(0, name.length() - ".npz".length()))
                    .sorted()
                    .toList();
        }
    }

    static Path source(String name) {
        Path file = golden(name + ".arrow");
        return Files.exists(file) ? file : golden(name);
    }

    @Test
    void everyGoldenSourceIsThere() throws IOException {
        assertThat(sources()).hasSizeGreaterThan(15).contains("cache", "saved", "lists-file", "numbers-legacy");
    }

    @ParameterizedTest
    @MethodSource("sources")
    void everyArrayIsWhatPyarrowReads(String name) throws IOException {
        ScannedSource found = scan(source(name));
        ScannedSource expected = scan(golden(name + ".npz"));

        assertThat(names(found)).isEqualTo(names(expected));
        for (SourceArray array : expected.arrays()) {
            SourceArray its = SourceFiles.array(found, array.name().array());
            assertThat(its.dtype()).as(array.toString()).isEqualTo(array.dtype());
            assertThat(its.shape()).as(array.toString()).isEqualTo(array.shape());
            assertThat(known(found, its)).as(array.toString()).isEqualTo(known(found, array));
        }
        SourceFiles.release(found);
    }

    private static List<String> names(ScannedSource source) {
        return source.arrays().stream().map(array -> array.name().array()).toList();
    }

    /** Returns the bytes of an array, with zeros in rows that are masked: what lies there is nobody's. */
    private static byte[] known(ScannedSource found, SourceArray array) throws IOException {
        byte[] bytes = SourceFiles.data(array);
        String mask = array.name().array() + ".mask";
        if (names(found).contains(mask) && bytes.length > 0) {
            byte[] isNull = SourceFiles.data(SourceFiles.array(found, mask));
            int rowBytes = bytes.length / isNull.length;
            for (int row = 0; row < isNull.length; row++) {
                if (isNull[row] != 0) {
                    Arrays.fill(bytes, row * rowBytes, (row + 1) * rowBytes, (byte) 0);
                }
            }
        }
        return bytes;
    }

    static List<String[]> refused() throws IOException {
        return Files.readAllLines(golden("refused.tsv"), StandardCharsets.UTF_8).stream()
                .map(line -> line.split("\t", -1))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("refused")
    void whatNoArrayHoldsIsRefusedByName(String name, String reason) {
        assertRefused(golden(name), reason);
    }

    @Test
    void aDecimalThatNoIntegerHoldsIsRefusedWithItsColumn() {
        ScannedSource source = scan(golden("wide.arrow"));

        assertThatThrownBy(() -> SourceFiles.data(SourceFiles.array(source, "price")))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("column price: int64 lacks a decimal, which has no point there: value="
                        + "922337203685477580800");
        SourceFiles.release(source);
    }

    private static void assertRefused(Path path, String reason, String... columns) {
        assertThatThrownBy(() -> scan(path, columns))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining(reason)
                .message()
                .doesNotContainPattern("--columns.*; restore");
    }

    @Test
    void numbersOfABatchAreOneRegionOfTheFileAndCanStayWhereTheyAre() {
        ScannedSource source = scan(golden("numbers-stream.arrow"));

        assertThat(SourceFiles.array(source, "f8").extents())
                .hasSize(4)
                .extracting(Extent::byteSize)
                .containsExactly(56L, 56L, 56L, 16L);
        assertThat(SourceFiles.array(source, "bool").extents()).isEmpty();
        SourceFiles.release(source);
    }

    @Test
    void columnsAreChosenByTheirNamesInTheStore() {
        ScannedSource source = scan(golden("numbers-file.arrow"), "one_value", "f4");

        assertThat(names(source)).containsExactly("f4", "one_value");
        SourceFiles.release(source);
    }

    @Test
    void columnsOfOneSplitAreChosenByItsLevel() {
        ScannedSource one = scan(golden("saved"), "train/label");
        ScannedSource split = scan(golden("saved"), "test");
        ScannedSource both = scan(golden("saved"), "label", "train/answers/start");

        assertThat(names(one)).containsExactly("classes/bytes", "classes/offsets", "train/label");
        assertThat(names(split)).contains("test/label", "test/text/bytes").noneMatch(name -> name.startsWith("train/"));
        assertThat(names(both))
                .contains("test/label", "train/label", "train/answers/start/values")
                .doesNotContain("test/answers/start/values");
        List.of(one, split, both).forEach(SourceFiles::release);
        assertRefused(
                golden("saved"),
                "it has no columns [train/lable], but [test/text, test/label, ",
                "train/lable",
                "test/label");
    }

    @Test
    void partsOfStructsAreChosenByTheirLevels() throws IOException {
        ScannedSource whole = scan(golden("nulls.arrow"));
        ScannedSource part = scan(golden("nulls.arrow"), "struct/b");
        ScannedSource items = scan(golden("lists-file.arrow"), "pairs.items/x", "map");

        assertThat(names(part)).containsExactly("struct/b.mask", "struct/b/bytes", "struct/b/offsets");
        assertThat(SourceFiles.text(part, "struct/b/bytes")).isEqualTo(SourceFiles.text(whole, "struct/b/bytes"));
        assertThat(names(items))
                .containsExactly(
                        "map.items/key/bytes",
                        "map.items/key/offsets",
                        "map.items/value",
                        "map.offsets",
                        "pairs.items/x",
                        "pairs.offsets");
        List.of(whole, part, items).forEach(SourceFiles::release);
        assertRefused(golden("nulls.arrow"), "it has no columns [struct/c]", "struct/c", "struct/a");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "part-1 part-10             | 9 of 11 parts are missing from its folder: [0, 2, 3, 4, 5, 6, 7, 8, 9];",
                "part-10                    | 10 of 11 parts are missing from its folder: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];",
                "part-0 part-2              | part 1 of 3 is missing from its folder;",
                "part-0 part-00             | it has the same number as part-0",
                "x-5-of-2                   | its number is 5, but the last of 2 shards has 1",
                "x-0-of-2 x-1-of-3          | it is one of 3 shards by its name, but x-0-of-2.arrow one of 2"
            })
    void numbersOfShardsThatDoNotFitAreNamed(String files, String message) throws IOException {
        for (String file : files.split(" ", -1)) {
            copy("numbers-file.arrow", file + ".arrow");
        }

        assertRefused(folder, message);
    }

    @Test
    void aColumnThatIsNotThereIsRefusedBesideThoseThatAre() {
        assertRefused(golden("span.arrow"), "it has no columns [cost], but [ok, span]", "cost");
    }

    @Test
    void aColumnThatNoArrayHoldsCanBeLeftOut() throws IOException {
        ScannedSource source = scan(golden("span.arrow"), "ok");

        assertThat(SourceFiles.longs(source, "ok")).containsExactly(1L);
        SourceFiles.release(source);
    }

    @Test
    void filesOfAFolderHaveLevelsAndShardsFollowEachOther() throws IOException {
        copy("numbers-stream.arrow", "a/train-00001-of-00002.arrow");
        copy("numbers-file.arrow", "a/train-00000-of-00002.arrow");
        copy("numbers-file.arrow", "a/test.feather");
        copy("numbers-file.arrow", "part-0.arrow");
        copy("numbers-v4.arrow", "part-1.arrow");
        Files.writeString(folder.resolve("notes.md"), "x");
        ScannedSource source = scan(folder, "i8");

        assertThat(names(source)).containsExactly("a/test/i8", "a/train/i8", "i8");
        assertThat(SourceFiles.array(source, "a/train/i8").shape()).containsExactly(46);
        assertThat(SourceFiles.array(source, "a/train/i8").files()).hasSize(2);
        assertThat(SourceFiles.longs(source, "i8").subList(23, 46)).isEqualTo(SourceFiles.longs(source, "a/test/i8"));
        assertThat(source.skippedFiles()).isEqualTo(1);
        SourceFiles.release(source);
    }

    private Path copy(String from, String to) throws IOException {
        Path target = folder.resolve(to);
        Files.createDirectories(target.getParent());
        return Files.copy(golden(from), target);
    }

    @Test
    void besideArraysArrowFilesAreSkippedAndCounted() throws IOException {
        SourceFiles.npy(folder.resolve("a.npy"), "<f4", 2);
        copy("numbers-file.arrow", "b.arrow");
        ScannedSource source = scan(folder);

        assertThat(names(source)).containsExactly("a");
        assertThat(source.skippedFiles()).isEqualTo(1);
        SourceFiles.release(source);
    }

    @Test
    void besideArraysTheyAreReadWhereTheirColumnsAreNamed() throws IOException {
        SourceFiles.npy(folder.resolve("a.npy"), "<f4", 2);
        copy("numbers-file.arrow", "b.arrow");
        ScannedSource source = scan(folder, "f4");

        assertThat(names(source)).containsExactly("b/f4");
        assertThat(source.skippedFiles()).isEqualTo(1);
        SourceFiles.release(source);
    }

    @Test
    void columnsOfArraysAndOfTablesAreReadTogetherWhereBothAreNamed() throws IOException {
        SourceFiles.npy(folder.resolve("x_depth.npy"), "<f4", 2);
        SourceFiles.npy(folder.resolve("x_rgb.npy"), "<f4", 2);
        copy("numbers-file.arrow", "b.arrow");
        Files.writeString(folder.resolve("notes.md"), "x");
        ScannedSource source = scan(folder, "depth", "f4");

        assertThat(names(source)).containsExactly("b/f4", "x_depth");
        assertThat(source.skippedFiles()).isEqualTo(1);
        SourceFiles.release(source);
        assertThatThrownBy(() -> scan(folder, "depth", "nope")).hasMessageContaining("it has no columns [nope]");
    }

    @Test
    void eachNameComesFromTheFirstFormatThatHasIt() throws IOException {
        SourceFiles.npy(folder.resolve("x_depth.npy"), "<f4", 2);
        copy("numbers-file.arrow", "b.arrow");
        SourceFiles.write(folder.resolve("c.tar"), TarScanTest.tar("1.jpg", "x"));
        Files.createSymbolicLink(folder.resolve("notes.md"), Path.of("gone"));
        ScannedSource source = scan(folder, "depth", "jpg", "f4");

        assertThat(names(source)).contains("b/f4", "jpg/values", "x_depth").noneMatch(name -> name.contains("f8"));
        assertThat(source.skippedFiles()).isEqualTo(1);
        SourceFiles.release(source);
    }

    @Test
    void aFileOfTheFormatThatCannotBeReadIsRefused() throws IOException {
        copy("numbers-file.arrow", "b.arrow");
        Files.createSymbolicLink(folder.resolve("c.arrow"), Path.of("gone"));

        assertThatThrownBy(() -> scan(folder)).hasMessageContaining("c.arrow reason=it is a dangling link");
    }

    @Test
    void theCaseOfASuffixDoesNotMatter() throws IOException {
        copy("numbers-file.arrow", "B.ARROW");

        ScannedSource source = scan(folder.resolve("B.ARROW"));

        assertThat(source.arrays()).isNotEmpty();
        SourceFiles.release(source);
    }

    @Test
    void whatIsSkippedIsSaidByItsKind() throws IOException {
        copy("numbers-file.arrow", "b.arrow");
        for (String name : List.of("a.parquet", "c.parquet", "d.tar", "notes.md", "x.jpg", "y.PNG")) {
            Files.writeString(folder.resolve(name), "x");
        }
        SourceOptions options = SourceOptions.none();
        ScannedSource source = ScannedSource.scan("d", folder, options);

        assertThat(ScannedSource.notes(List.of(source)))
                .containsExactly(
                        "skipped 1 file of no known kind: notes.md; --exclude leaves files out",
                        "skipped 2 files of another kind: Apache Parquet; name their columns with --columns, or load them"
                                + " by themselves",
                        "skipped 2 files of another kind: images; load them by themselves, --as images",
                        "skipped 1 file of another kind: tar; name their columns with --columns, or load them by"
                                + " themselves");
        SourceFiles.release(source);
    }

    @Test
    void whatMapKeptBesideTheDataIsSkippedAndCounted() throws IOException {
        for (String name : List.of("json-train.arrow", "json-test.arrow", "dataset_info.json")) {
            copy("cache/" + name, name);
        }
        copy("numbers-file.arrow", "cache-0123456789abcdef.arrow");
        Files.writeString(folder.resolve("builder.lock"), "");
        ScannedSource source = scan(folder);

        assertThat(source.skippedFiles()).isEqualTo(2);
        assertThat(names(source)).allMatch(name -> name.startsWith("train/") || name.startsWith("test/"));
        SourceFiles.release(source);
    }

    @Test
    void aMissingShardIsRefused() throws IOException {
        copy("numbers-stream.arrow", "train-00000-of-00002.arrow");

        assertRefused(folder, "shard 1 of 2 is missing from its folder");
    }

    @Test
    void aShardThatTheStateListsAndIsNotThereIsRefused() throws IOException {
        copy("saved-split/state.json", "state.json");
        copy("saved-split/data-00000-of-00003.arrow", "data-00000-of-00003.arrow");

        assertRefused(folder, "state.json reason=it lists data-00001-of-00003.arrow, which is missing");
    }

    @Test
    void aStateWithIndicesIsRefusedBecauseItsRowsAreOthers() throws IOException {
        copy("numbers-file.arrow", "dataset.arrow");
        Files.writeString(
                folder.resolve("state.json"),
                "{\"_data_files\": [{\"filename\": \"dataset.arrow\"}],"
                        + " \"_indices_data_files\": [{\"filename\": \"indices.arrow\"}]}");

        assertRefused(folder, "state.json reason=it lists files of indices");
    }

    @Test
    void aSplitThatIsNotThereIsRefused() throws IOException {
        copy("saved/dataset_dict.json", "dataset_dict.json");
        for (String name : List.of("state.json", "data-00000-of-00001.arrow")) {
            copy("saved/test/" + name, "test/" + name);
        }

        assertRefused(folder, "dataset_dict.json reason=it lists train, which is missing");
    }

    @Test
    void fewerRowsThanTheCacheSaysAreRefused() throws IOException {
        String info = Files.readString(golden("cache/dataset_info.json"));
        Files.writeString(
                folder.resolve("dataset_info.json"), info.replace("\"num_examples\": 23", "\"num_examples\": 24"));
        copy("cache/json-train.arrow", "json-train.arrow");
        copy("cache/json-test.arrow", "json-test.arrow");

        assertRefused(folder, "have 23 of the 24 rows in dataset_info.json");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"{", "[]", "{\"_data_files\": 3}", "{\"_data_files\": [{}]}", "{\"_data_files\": [3, null]}"})
    void aStateThatSaysNothingIsRefused(String json) throws IOException {
        Files.writeString(folder.resolve("state.json"), json);
        copy("numbers-file.arrow", "data-00000-of-00001.arrow");

        assertThatThrownBy(() -> scan(folder))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT));
    }

    @Test
    void shardsWithOtherColumnsAreRefused() throws IOException {
        copy("numbers-stream.arrow", "x-00000-of-00002.arrow");
        copy("times.arrow", "x-00001-of-00002.arrow");

        assertRefused(folder, "but x-00000-of-00002.arrow has");
    }

    @Test
    void shardsWithAColumnOfAnotherTypeAreRefused() throws IOException {
        copy("replaced.arrow", "x-00000-of-00002.arrow");
        copy("deltas.arrow", "x-00001-of-00002.arrow");
        ScannedSource both = scan(folder);
        assertThat(SourceFiles.text(both, "x/word.classes/bytes")).isEqualTo("abcd");
        assertThat(SourceFiles.array(both, "x/word").shape()).containsExactly(15);
        SourceFiles.release(both);

        Files.delete(folder.resolve("x-00001-of-00002.arrow"));
        Path other = copy("columns-file.arrow", "x-00001-of-00002.arrow");
        assertThatThrownBy(() -> scan(folder)).hasMessageContaining(other.toString());
    }
}
