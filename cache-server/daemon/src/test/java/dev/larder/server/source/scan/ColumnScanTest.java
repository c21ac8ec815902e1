package dev.larder.server.source.scan;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadOptions.As;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.Extent;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ColumnScanTest {
    @TempDir
    Path folder;

    @Test
    void eachKeyBecomesARaggedColumnAndTheScenesAnIndex() throws IOException {
        for (String scene : List.of("b_01", "a_02")) {
            SourceFiles.npy(folder.resolve(scene + "_depth.npy"), "<f4", scene.startsWith("a") ? 1 : 3, 2);
            SourceFiles.npy(folder.resolve(scene + "_n.npy"), "<i2");
        }
        ScannedSource source = scan(As.RAGGED, folder, "depth", "n");

        assertThat(source.arrays())
                .extracting(array -> array.name().array())
                .containsExactly(
                        "depth/offsets",
                        "depth/shapes",
                        "depth/values",
                        "n/offsets",
                        "n/shapes",
                        "n/values",
                        "scene/positions",
                        "scene/records",
                        "scene/slots");
        assertThat(longs(source, "depth/offsets")).containsExactly(0, 2, 8);
        assertThat(longs(source, "depth/shapes")).containsExactly(1, 2, 3, 2);
        assertThat(longs(source, "n/offsets")).containsExactly(0, 1, 2);
        assertThat(array(source, "n/shapes").shape()).containsExactly(2, 0);
        assertThat(longs(source, "scene/positions")).containsExactly(0, 16);
        release(source);
    }

    @Test
    void raggedValuesAreRegionsOfTheFiles() throws IOException {
        SourceFiles.npy(folder.resolve("x.npy"), "|u1", 3);
        SourceFiles.npy(folder.resolve("y.npy"), "|u1", 0);
        SourceFiles.npy(folder.resolve("z.npy"), "|u1", 2);
        ScannedSource source = scan(As.RAGGED, folder);

        SourceArray values = array(source, "data/values");
        assertThat(values.part()).isEqualTo(ColumnPart.RAGGED_VALUES);
        assertThat(values.extents()).extracting(Extent::byteSize).containsExactly(3L, 2L);
        assertThat(values.files()).hasSize(3);
        assertThat(SourceFiles.data(values)).containsExactly(0, 1, 2, 0, 1);
        release(source);
    }

    @Test
    void rowsOfAnotherDtypeRankOrOrderAreAllListed() {
        SourceFiles.npy(folder.resolve("a.npy"), "<f4", 2, 2);
        SourceFiles.npy(folder.resolve("b.npy"), "<f8", 2, 2);
        SourceFiles.npy(folder.resolve("c.npy"), "<f4", 4);
        SourceFiles.write(folder.resolve("d.npy"), fortran());

        assertThatThrownBy(() -> scan(As.RAGGED, folder))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("badFiles=3")
                .hasMessageContaining("b.npy offset=0 reason=its dtype is <f8")
                .hasMessageContaining("c.npy offset=0 reason=it has 1 dimensions")
                .hasMessageContaining("d.npy offset=0 reason=it is in Fortran order")
                .hasMessageContaining("numpy.ascontiguousarray");
    }

    private static byte[] fortran() {
        ByteBuffer head = NpyHeader.of(Dtype.parse("<f4"), Order.F, 2, 2).encode(64);
        byte[] content = new byte[head.remaining() + 16];
        head.get(content, 0, head.remaining());
        return content;
    }

    @Test
    void aKeyMayNotHaveTheNameOfTheIndex() {
        assertThatThrownBy(() -> scan(As.RAGGED, folder, "scene"))
                .hasMessageContaining("a key has the same name as the index");
    }

    @Test
    void aFolderOfAnyFilesBecomesABytesColumnInTheOrderOfNames() throws IOException {
        write("b/two.bin", "xyz");
        write("a.txt", "hello");
        write("b/empty", "");
        write(".hidden", "no");
        write(".folder/too", "no");
        ScannedSource source = scan(As.BYTES, folder);

        assertThat(SourceFiles.data(array(source, "files/values"))).isEqualTo("helloxyz".getBytes(UTF_8));
        assertThat(longs(source, "files/offsets")).containsExactly(0, 5, 5, 8);
        assertThat(SourceFiles.data(array(source, "files/names/bytes")))
                .isEqualTo("a.txtb/emptyb/two.bin".getBytes(UTF_8));
        assertThat(longs(source, "file/positions")).hasSize(3);
        assertThat(source.hiddenFiles()).isEqualTo(2);
        release(source);
    }

    @Test
    void aFolderWithoutFilesIsRefused() {
        assertThatThrownBy(() -> scan(As.BYTES, folder)).hasMessageContaining("source has nothing to load");
        assertThatThrownBy(() -> scan(As.STRINGS, folder)).hasMessageContaining(".tsv, .csv, .jsonl");
    }

    @Test
    void aPipeAmongTheFilesIsRefusedAndHangsNothing() throws Exception {
        write("a.txt", "hello");
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();

        assertThatThrownBy(() -> scan(As.BYTES, folder)).hasMessageContaining("it is a pipe, device or socket");
    }

    @Test
    void eachColumnOfATableBecomesTexts() throws IOException {
        Path file = write("t.tsv", "\uFEFFscene\tpath\r\ns1\t\"/a\tb\"\r\ns2\tgröße\r\n\r\n");
        ScannedSource source = scan(As.STRINGS, file);

        assertThat(text(source, "scene/bytes")).isEqualTo("s1s2");
        assertThat(text(source, "path/bytes")).isEqualTo("/a\tbgröße");
        assertThat(longs(source, "path/offsets")).containsExactly(0, 4, 11);
        release(source);
    }

    @Test
    void keysChooseColumns() throws IOException {
        Path file = write("t.csv", "a,b,c\n1,2,3\n");
        ScannedSource source = scan(As.STRINGS, file, "b");

        assertThat(source.arrays()).extracting(array -> array.name().array()).containsExactly("b/bytes", "b/offsets");
        assertThat(scan(As.STRINGS, write("u.csv", "a,a,b\n1,2,3\n"), "b").arrays())
                .hasSize(2);
        assertThatThrownBy(() -> scan(As.STRINGS, file, "d"))
                .hasMessageContaining("it has no columns [d], but [a, b, c];");
        release(source);
    }

    @Test
    void emptyLinesOfATableAreSkipped() throws IOException {
        ScannedSource source = scan(As.STRINGS, write("t.tsv", "a\tb\n\n1\t2\n\n3\t4\n\n"));

        assertThat(longs(source, "a/offsets")).containsExactly(0, 1, 2);
        release(source);
    }

    @Test
    void jsonLinesGiveTextsWithNumbersAsWrittenAndNothingAsEmpty() throws IOException {
        Path file = write("t.jsonl", "{\"a\": \"x\", \"n\": 1.50}\n{\"n\": null, \"b\": true}\n{\"a\": \"\\u00fc\"}\n");
        ScannedSource source = scan(As.STRINGS, file);

        assertThat(text(source, "a/bytes")).isEqualTo("xü");
        assertThat(longs(source, "a/offsets")).containsExactly(0, 1, 1, 3);
        assertThat(text(source, "n/bytes")).isEqualTo("1.50");
        assertThat(longs(source, "b/offsets")).containsExactly(0, 0, 4, 4);
        release(source);
    }

    @Test
    void linesOfTextAreOneColumn() throws IOException {
        Path file = write("t.txt", "one\n\ntwo");
        ScannedSource source = scan(As.STRINGS, file);

        assertThat(text(source, "line/bytes")).isEqualTo("onetwo");
        assertThat(longs(source, "line/offsets")).containsExactly(0, 3, 3, 6);
        release(source);
    }

    @Test
    void gzippedFilesAndFoldersOfFilesWork() throws IOException {
        SourceFiles.write(folder.resolve("in/t.csv.gz"), SourceFiles.gzip("a\nx\n".getBytes(UTF_8)));
        write("u.txt", "y\n");
        write("readme.md", "skipped");
        ScannedSource source = scan(As.STRINGS, folder);

        assertThat(text(source, "in/t/a/bytes")).isEqualTo("x");
        assertThat(text(source, "u/line/bytes")).isEqualTo("y");
        assertThat(source.skippedFiles()).isEqualTo(1);
        release(source);
    }

    @Test
    void theFirstColumnBecomesAnIndexOfTexts() throws IOException {
        ScannedSource source = scan(As.INDEX, write("t.tsv", "scene\tid\ns1\t7\ns2\t8\n"));

        assertThat(source.arrays())
                .extracting(array -> array.name().array())
                .containsExactly("scene/positions", "scene/records", "scene/slots");
        release(source);
    }

    @ParameterizedTest
    @CsvSource({"1 2 -3, true", "1 2 x, false", "1 02, false", "1 +2, false", "9223372036854775808, false", "-0, false"
    })
    void keysAreIntegersIfAllOfThemAreWrittenAsSuch(String keys, boolean integers) throws IOException {
        ScannedSource source = scan(As.INDEX, write("t.csv", "id\n" + keys.replace(' ', '\n') + "\n"), "id");

        assertThat(source.arrays())
                .extracting(SourceArray::part)
                .contains(integers ? ColumnPart.INDEX_ENTRIES : ColumnPart.INDEX_RECORDS);
        release(source);
    }

    @Test
    void integersOfJsonAreIntegersAndTextsAreTexts() throws IOException {
        Path file = write("t.jsonl", "{\"id\": 7, \"name\": \"7\"}\n{\"id\": 8, \"name\": \"8\"}\n");
        ScannedSource source = scan(As.INDEX, file, "id", "name");

        assertThat(longs(source, "id/entries")).containsExactly(7, 0, 8, 1);
        assertThat(array(source, "name/records").part()).isEqualTo(ColumnPart.INDEX_RECORDS);
        release(source);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "t.csv   | id,\"name, full\",,#,_id,id_/1,a,b,c,d,e | _id column2 column3 id id_ name_full",
                "t.jsonl | {\"_id\":1,\"full name\":2} | _id full_name"
            })
    void columnsAreCalledAsThoseOfATableOfNumbers(String name, String content, String expected) throws IOException {
        ScannedSource source = scan(As.STRINGS, write(name, content.replace('/', '\n')));

        assertThat(source.arrays().stream()
                        .map(array -> array.name().array())
                        .filter(array -> array.endsWith("/bytes"))
                        .map(array -> array.substring(0, array.length() - "/bytes".length())))
                .containsExactly(expected.split(" "));
        release(source);
    }

    @Test
    void aTextThatIsNotUtf8IsRefusedWithItsLine() throws IOException {
        byte[] text = ("a\n" + "é\n".repeat(40_000) + "?\n").getBytes(UTF_8);
        text[text.length - 2] = (byte) 0xe9;
        Path file = SourceFiles.write(folder.resolve("t.csv"), text);

        assertThatThrownBy(() -> scan(As.STRINGS, file))
                .hasMessageContaining("line=40002 reason=it is not UTF-8 text; convert it, as in iconv");
    }

    @Test
    void aTypeIsOfNoUseToFilesThatStayWhatTheyAre() {
        SourceOptions options =
                SourceOptions.of(LoadOptions.none().withElements("u1", "").withAs(As.BYTES));

        assertThatThrownBy(() -> ScannedSource.scan("set", folder, options))
                .hasMessageContaining("--dtype cannot be used with --as bytes");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "t.tsv   | a;b/1/2                 | line=2 reason=it has 1 fields, and the first line has 2",
                "t.tsv   | a;b/1;2;3               | line=2 reason=it has 3 fields",
                "t.csv   | a/x/\"y/z               | line=3 reason=a quoted field has no closing quote",
                "t.csv   | 10,2.5/1,2              | line=1 reason=the first line has numbers instead of column names",
                "t.csv   | a,a/1,2                 | line=1 reason=two columns have the same name",
                "t.csv   | a b,a_b/1,2             | line=1 reason=two columns have the same name",
                "t.csv   | //7                     | line=3 reason=the first line has numbers instead",
                "t.csv   | nan,1/2,3               | line=1 reason=the first line has numbers instead",
                "t.csv   | inf/2                   | line=1 reason=the first line has numbers instead",
                "t.csv   | 0,1/2,3                 | line=1 reason=the first line may be names, as pandas writes 0,1,2",
                "t.csv   | ,1/2,3                  | line=1 reason=the first line has an empty field and no name",
                "t.jsonl | {\"a\":\"\\ud800\"}    | line=1 reason=it is not a JSON object",
                "t.jsonl | [/{\"a\":1}/]          | line=1 reason=it is not a JSON object; write one JSON object a",
                "t.json  | [1]                     | ; write one JSON object a line, in a file named .jsonl",
                "t.npy   | x                       | ; load it without --as, or rename it if it is text",
                "t.csv   | ''                      | the names of the columns",
                "t.jsonl | {\"a\":1}/[1]            | line=2 reason=it is not a JSON object",
                "t.jsonl | {\"a\":1}/{\"a\":        | line=2 reason=it is not a JSON object",
                "t.jsonl | {\"a\":1} {\"a\":2}      | line=1 reason",
                "t.jsonl | {\"a\":[1]}              | line=1 reason=the value of a is a list or an object",
                "t.jsonl | {\"a\":1,\"a\":2}        | line=1 reason=it has two values for a",
                "t.jsonl | {\"a\":1}//{\"a\":2}     | line=2 reason=it is empty",
                "t.jsonl | {}                      | it has no columns",
                "t.dat   | x                       | its name has no known suffix of a text file"
            })
    void badTextFilesAreRefusedWithTheLine(String name, String content, String message) throws IOException {
        Path file = write(name, content.replace('/', '\n').replace(';', '\t'));

        assertThatThrownBy(() -> scan(As.STRINGS, file))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining(file.toString())
                .hasMessageContaining(message);
    }

    @Test
    void aListInOneLongLineIsToldToBeLines() throws IOException {
        Path list = write("t.jsonl", "[" + "1,".repeat(9 << 20) + "1]");
        Path text = write("t.txt", "x".repeat(17 << 20));

        assertThatThrownBy(() -> scan(As.STRINGS, list))
                .hasMessageEndingWith(
                        "line=1 reason=the line is longer than 16777216 bytes;" + " write one JSON object a line");
        assertThatThrownBy(() -> scan(As.STRINGS, text)).hasMessageEndingWith(" bytes; repair the line");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "t.csv   | id/7/8/7                | an index has a key twice: column=id key=7",
                "t.csv   | id/a/b/a                | an index has a key twice: column=id key=a",
                "t.jsonl | {\"a\":1}/{\"b\":1}     | line=2 reason=it has no value for a"
            })
    void badKeysAreRefusedByName(String name, String content, String message) throws IOException {
        Path file = write(name, content.replace('/', '\n'));

        assertThatThrownBy(() -> scan(As.INDEX, file))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining(file.toString())
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "t.csv   | id,a/7,1                      | it has no columns [b], but [id, a]",
                "t.jsonl | {\"a\":1}/{\"a\":2,\"b\":1} | line=2 reason=the rows before it have no value for b",
                "t.jsonl | {\"b\":1}/{\"a\":1}           | line=2 reason=it has no value for b"
            })
    void aRowWithoutAKeyIsRefused(String name, String content, String message) throws IOException {
        Path file = write(name, content.replace('/', '\n'));

        assertThatThrownBy(() -> scan(As.INDEX, file, "b")).hasMessageContaining(message);
    }

    @Test
    void textThatIsNotUtf8IsRefused() {
        Path file = SourceFiles.write(folder.resolve("t.csv"), "a\ngröße\n".getBytes(ISO_8859_1));

        assertThatThrownBy(() -> scan(As.STRINGS, file)).hasMessageContaining("it is not UTF-8 text");
    }

    @Test
    void aLineWithoutAnEndIsRefusedBeforeItFillsTheHeap() throws IOException {
        Path file = folder.resolve("t.jsonl");
        Files.write(file, new byte[(16 << 20) + 1]);

        assertThatThrownBy(() -> scan(As.STRINGS, file)).hasMessageContaining("line=1 reason=the line is longer than");
    }

    private static ScannedSource scan(As as, Path path, String... keys) {
        return ScannedSource.scan("d", path, new SourceOptions(List.of(keys), as, "", ""));
    }

    private Path write(String name, String content) throws IOException {
        return SourceFiles.write(folder.resolve(name), content.getBytes(UTF_8));
    }

    private static SourceArray array(ScannedSource source, String name) {
        return source.arrays().stream()
                .filter(array -> array.name().array().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static String text(ScannedSource source, String name) throws IOException {
        return new String(SourceFiles.data(array(source, name)), UTF_8);
    }

    private static long[] longs(ScannedSource source, String name) throws IOException {
        ByteBuffer data = ByteBuffer.wrap(SourceFiles.data(array(source, name))).order(ByteOrder.LITTLE_ENDIAN);
        return LongStream.generate(data::getLong)
                .limit(data.remaining() / Long.BYTES)
                .toArray();
    }

    private static void release(ScannedSource source) {
        source.arrays().forEach(SourceArray::release);
    }
}
