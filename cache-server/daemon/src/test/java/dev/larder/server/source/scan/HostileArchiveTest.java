package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.npy.Dtype;
import dev.larder.npy.Numpy;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Archives, tables and raw files that must not be loaded: each is refused by the scan, in words. */
@Timeout(300)
class HostileArchiveTest {
    private static final String ZIPS = """
            import io, struct, sys, zipfile
            import numpy as np
            folder = sys.argv[1]
            array = io.BytesIO(); np.save(array, np.arange(1000)); array = array.getvalue()
            objects = io.BytesIO(); np.save(objects, np.array([1, "a"], dtype=object)); objects = objects.getvalue()
            def make(name, members, method=zipfile.ZIP_STORED, change=None):
                out = io.BytesIO()
                with zipfile.ZipFile(out, "w", method) as z:
                    for member, content in members:
                        z.writestr(zipfile.ZipInfo(member), content, method)
                content = bytearray(out.getvalue())
                if change:
                    change(content)
                open(folder + "/" + name + ".npz", "wb").write(content)
            def central(offset, pattern, value):
                def change(content):
                    at = content.find(b"PK\\x01\\x02")
                    struct.pack_into(pattern, content, at + offset, value)
                return change
            def flip(content):
                content[200] ^= 1
            def overlap(content):
                first = content.find(b"PK\\x01\\x02")
                second = content.find(b"PK\\x01\\x02", first + 4)
                struct.pack_into("<I", content, second + 42, struct.unpack_from("<I", content, first + 42)[0])
            def cut(content):
                del content[len(content) // 2:]
            D = zipfile.ZIP_DEFLATED
            one = [("a.npy", array)]
            make("climbing", [("../a.npy", array)])
            make("absolute", [("/a.npy", array)])
            make("text", [("README.txt", b"hello")])
            make("objects", [("o.npy", objects)])
            make("noarray", [("a.npy", b"hello world")])
            make("short", [("a.npy", array[:-1])])
            make("long", [("a.npy", array + b"x")])
            make("shortpacked", [("a.npy", array[:-1])], D)
            make("bzip2", one, zipfile.ZIP_BZIP2)
            make("lzma", one, zipfile.ZIP_LZMA)
            make("encrypted", one, change=central(8, "<H", 1))
            make("bomb", one, D, central(24, "<I", 4000000000))
            make("beyond", one, change=lambda c: (central(20, "<I", 70000)(c), central(24, "<I", 70000)(c)))
            make("twolengths", one, change=central(24, "<I", 70000))
            make("overlap", [("a.npy", array), ("b.npy", array)], change=overlap)
            make("twice", [("a.npy", array), ("a.npy", array)])
            make("clash", [("a.npy", array), ("a.npy.npy", array), ("a.npy/x.npy", array)])
            make("cut", one, change=cut)
            open(folder + "/empty.npz", "wb").close()
            open(folder + "/nozip.npz", "wb").write(array)
            make("wrongcrc", one, D, central(16, "<I", 12345))
            make("wrongbody", one, D, flip)
            """;

    @TempDir
    private static Path zips;

    @TempDir
    private Path folder;

    private static boolean made;

    private static Path zip(String name) {
        if (!made) {
            Numpy.run("import warnings; warnings.simplefilter('ignore')\n" + ZIPS, zips.toString());
            made = true;
        }
        return zips.resolve(name + ".npz");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "climbing | a part of it is ..",
                "absolute | a part of it is empty",
                "text | README.txt: it is not a .npy file",
                "objects | pickle",
                "noarray | not a .npy file",
                "short | ends after 7999 of 8000",
                "long | 1 bytes follow the 8000",
                "shortpacked | ends after 7999 of 8000",
                "bzip2 | method 12",
                "lzma | method 14",
                "encrypted | it is encrypted",
                "bomb | cannot hold the 4000000000 bytes",
                "beyond | not a readable ZIP archive",
                "twolengths | has two lengths",
                "overlap | overlaps the one before it",
                "twice | has it twice",
                "cut | reason=",
                "empty | reason=",
                "nozip | not a readable ZIP archive"
            })
    void aBadNpzIsRefused(String name, String reason) {
        assertRefused(zip(name), SourceOptions.none(), reason);
    }

    @ParameterizedTest
    @CsvSource({"wrongcrc,CRC-32", "wrongbody,member a.npy"})
    void aDeflatedMemberIsProvedBeforeItsLastByteIsHandedOut(String name, String reason) {
        SourceArray array = ScannedSource.scan("set", zip(name), SourceOptions.none())
                .arrays()
                .get(0);

        assertThatThrownBy(() -> SourceFiles.data(array))
                .isInstanceOfSatisfying(LarderException.class, HostileArchiveTest::isBadInput)
                .hasMessageContaining(reason);
    }

    static Stream<Arguments> tensors() {
        String good = "\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}";
        return Stream.of(
                arguments("{" + good + "}", 3, "not lie within the file"),
                arguments("{" + good + "}", 5, "1 bytes follow the last tensor"),
                arguments("{" + good + "," + good + "}", 4, "has it twice"),
                arguments("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[1,5]}}", 5, "a gap"),
                arguments(
                        "{" + good + ",\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[3,5]}}", 5, "overlaps"),
                arguments("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,0]}}", 4, "not lie within"),
                arguments("{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "its shape 16"),
                arguments("{\"a\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "F4 is unknown"),
                arguments("{\"a\":{\"dtype\":\"U8\",\"shape\":[-4],\"data_offsets\":[0,4]}}", 4, "no array can have"),
                arguments("{\"a\":{\"dtype\":\"U8\",\"shape\":[4.5],\"data_offsets\":[0,4]}}", 4, "not valid JSON"),
                arguments("{\"a\":{\"dtype\":\"U8\",\"shape\":[\"4\"],\"data_offsets\":[0,4]}}", 4, "not a number"),
                arguments(
                        "{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}",
                        4,
                        "shape"),
                arguments("{\"a\":{\"dtype\":\"U8\",\"shape\":[4]}}", 4, "data_offsets is missing"),
                arguments("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4],\"x\":1}}", 4, "each once"),
                arguments(
                        "{\"../a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "a part of it is .."),
                arguments("{\"a\":{\"dtype\":\"U8\"", 4, "not valid JSON"),
                arguments("{" + good + "} {}", 4, "not valid JSON"),
                arguments("[" + good + "]", 4, "not valid JSON"),
                arguments("x".repeat(50), 4, "not valid JSON"),
                arguments("{\"a\":" + "[".repeat(100_000), 0, "not valid JSON"),
                arguments("{}", 0, "nothing to load"));
    }

    @ParameterizedTest
    @MethodSource("tensors")
    void aBadSafetensorsFileIsRefused(String header, int dataBytes, String reason) {
        Path file = SourceFiles.write(folder.resolve("m.safetensors"), SourceFiles.safetensors(header, dataBytes));

        assertRefused(file, SourceOptions.none(), reason);
    }

    @ParameterizedTest
    @CsvSource({"0", "-1", "9223372036854775807", "1000", "20000000"})
    void aSafetensorsHeaderOfAnImpossibleLengthIsRefused(long length) {
        byte[] content = ByteBuffer.allocate(64)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(length)
                .array();

        assertRefused(SourceFiles.write(folder.resolve("m.safetensors"), content), SourceOptions.none(), "its header");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "a,b;1,2;3,x | | line=3 reason=field 2 (b): 'x' is not a number, but the first value of its column is;"
                        + " repair the line, or"
                        + " load all columns as texts with --as strings",
                "a,b;1,2;3 | | line=3 reason=it has 1 fields, and the first line has 2",
                "a,b;1,2;3,4,5 | | line=3 reason=it has 3 fields, and the first line has 2",
                "1,2;3,4 | | line=1 reason=the first line has numbers instead of column names",
                "0,1;3,4 | u1 | line=1 reason=the first line may be names, as pandas writes 0,1,2",
                "0,1;3,4 | | if it is names, write x0,x1,x2 there",
                "0;5 | f4 | if it is numbers, add a line of names above it",
                "nan,1;3,4 | | line=1 reason=the first line has numbers instead of column names",
                "nan,NA;3,4 | | line=1 reason=the first line has numbers instead of column names",
                ",1;3,4 | | line=1 reason=the first line has an empty field and no name: it may be names",
                ",0,1;0,3,4 | f4 | line=1 reason=the first line has an empty field and no name: it may be names",
                ";;\"\",\" \";1,2 | f4 | line=3 reason=the first line has an empty field and no name: it may be names",
                "a,b;NA,1;x,2;1,y | | line=4 reason=field 2 (b): 'y' is not a number",
                "a;256 | u1 | '256' is not an element of |u1",
                "a;-1 | uint64 | '-1' is not an element of <u8",
                "a;1.5 | i4 | '1.5' is not an element of <i4",
                "a;NA;1 | i4 | 'NA' is not an element of <i4",
                "a;2 | bool | '2' is not an element of |b1",
                "a;1 | S3 | cannot become elements of |S3",
                "a;1;0x10 | | '0x10' is not a number",
                "a;1;1d | | '1d' is not a number",
                "a;1;- | | '-' is not a number",
                "a;\"1 | | line=2 reason=a quoted field has no closing quote",
                "a,a;1,2 | | array a of the same file has the same name",
                "~~ | | it is empty"
            })
    void aBadTableIsRefusedWithItsLine(String text, String dtype, String reason) {
        byte[] content = (text == null ? "" : text.replace(';', '\n')).getBytes(StandardCharsets.UTF_8);
        Path file = SourceFiles.write(folder.resolve("t.csv"), content);

        assertRefused(file, typed(dtype == null ? "" : dtype, ""), reason);
    }

    @Test
    void aTableThatIsNoTextOrNoGzipIsRefused() {
        byte[] noise = new byte[10_000];
        new Random(4).nextBytes(noise);

        assertRefused(SourceFiles.write(folder.resolve("t.csv"), noise), SourceOptions.none(), "t.csv");
        assertRefused(SourceFiles.write(folder.resolve("t.tsv.gz"), noise), SourceOptions.none(), "compressed data");
    }

    @ParameterizedTest
    @CsvSource({
        "u2,'',not a multiple",
        "u1,'4,2','its 7 bytes are not the 8 bytes of [4, 2] elements of |u1'",
        "u1,'3,2','its 7 bytes are not the 6 bytes of [3, 2]'",
        "u1,'-1,0',not a multiple"
    })
    void rawBytesOfAnotherLengthAreRefused(String dtype, String shape, String reason) {
        Path file = SourceFiles.write(folder.resolve("x.bin"), SourceFiles.counting(7));

        assertRefused(file, typed(dtype, shape), reason);
    }

    @ParameterizedTest
    @CsvSource({"u3,''", "O,''", "object,''", "'',3", "u1,'a'", "u1,'-1,-1'", "u1,'-2'", "u1,'99999999999999999999'"})
    void wrongWordsForATypeAreWrongUsage(String dtype, String shape) {
        assertThatThrownBy(() -> typed(dtype, shape))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.USAGE));
    }

    @Test
    void aFileThatSaysItsTypeItselfTakesNoOther() {
        Path file = SourceFiles.npy(folder.resolve("x.npy"), "<f4", 2);

        assertRefused(file, typed("u1", ""), "load it without --dtype");
    }

    @ParameterizedTest
    @CsvSource({"'-1,201'", "'1000,100'", "'2,2'", "'4000000000,4000000000,4000000000'"})
    void aWrongShapeIsCorrectedAndNotTheFile(String shape) {
        Path file = SourceFiles.write(folder.resolve("f.bin"), new byte[400]);

        assertRefused(file, typed("f4", shape), "; correct --shape or --dtype");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "x.pkl    | read it in Python and write its arrays with numpy.save",
                "x.PT     | read it in Python and write its arrays with numpy.save",
                "x.json   | write one JSON object a line, in a file named .jsonl, and load that --as strings",
                "x.what   | rename it, give --dtype if it has raw numbers, or load it --as bytes"
            })
    void aFileOfNoArraysIsRefusedWithWhatMakesArraysOfIt(String name, String remedy) {
        Path file = SourceFiles.write(folder.resolve(name), new byte[4]);

        assertThatThrownBy(() -> ScannedSource.scan("set", file, SourceOptions.none()))
                .hasMessageEndingWith("; " + remedy);
    }

    @Test
    void aTableSaysItsShapeItself() {
        Path file = SourceFiles.write(folder.resolve("t.csv"), "a,b\n1,2\n".getBytes(StandardCharsets.UTF_8));

        assertRefused(file, typed("f4", "2,1"), "load it without --shape");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.arrow", "a.tar", "a.tar.gz", "a.h5", "a.parquet", "A.NPY"})
    void aFileOfAKnownKindTakesNoOtherType(String name) {
        Path file = SourceFiles.write(folder.resolve(name), SourceFiles.counting(64));

        assertRefused(file, typed("f4", ""), "its format already has a dtype; load it without --dtype");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x.npy", "x.npz", "a.arrow", "a.tar", "a.h5"})
    void aFolderOfFilesThatSayTheirTypesTakesNoOther(String name) {
        SourceFiles.npy(folder.resolve(name), "<f4", 2);

        assertRefused(folder, typed("f8", ""), "already have a dtype; load it without --dtype");
        assertThatThrownBy(() -> ScannedSource.requireLikely("set", folder, typed("f8", ""), false))
                .hasMessageEndingWith("; load it without --dtype");
    }

    @Test
    void rawFilesOfAFolderTakeATypeAndOthersKeepTheirs() {
        SourceFiles.npy(folder.resolve("x.npy"), "<f4", 2);
        SourceFiles.write(folder.resolve("y.bin"), new byte[16]);

        assertThat(ScannedSource.scan("set", folder, typed("f8", "")).arrays())
                .extracting(SourceArray::dtype)
                .containsExactly(Dtype.parse("<f4"), Dtype.parse("<f8"));
    }

    private static SourceOptions typed(String dtype, String shape) {
        return SourceOptions.of(LoadOptions.none().withElements(dtype, shape));
    }

    private static void assertRefused(Path file, SourceOptions options, String reason) {
        assertThatThrownBy(() -> ScannedSource.scan("set", file, options))
                .isInstanceOfSatisfying(LarderException.class, HostileArchiveTest::isBadInput)
                .hasMessageContaining(file.toString())
                .hasMessageContaining(reason)
                .message()
                .doesNotContain("null");
    }

    @Test
    void anNpzThatIsCutAnywhereIsRefusedInWords() throws IOException {
        byte[] whole = Files.readAllBytes(zip("overlap"));
        for (int length = 0; length < whole.length; length += 1 + length / 20) {
            Path cut = Files.write(folder.resolve("x.npz"), Arrays.copyOf(whole, length));

            assertRefused(cut, SourceOptions.none(), "cannot read source file");
        }
    }

    private static void isBadInput(LarderException e) {
        assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT);
    }

    @Test
    void everyBadSourceOfAListIsNamed() {
        var bad = List.of(
                new dev.larder.internal.protocol.LoadRequest.Source(
                        "a", zip("twice").toString()),
                new dev.larder.internal.protocol.LoadRequest.Source(
                        "a", zip("short").toString()));

        assertThatThrownBy(() -> ScannedSource.scanAll(
                        bad, SourceOptions.none(), new ScanSettings(2, false, () -> false, n -> {})))
                .hasMessageContaining("badFiles=2")
                .hasMessageContaining("twice.npz")
                .hasMessageContaining("short.npz");
    }
}
