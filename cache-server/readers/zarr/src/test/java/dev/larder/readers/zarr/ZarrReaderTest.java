package dev.larder.readers.zarr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.larder.reader.BadSource;
import dev.larder.reader.InputFile;
import dev.larder.reader.Offer;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.testing.ReadArrays;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads folders that zarr has written; {@code golden/make.py} has made them, and what zarr reads from them. */
class ZarrReaderTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden");

    @TempDir
    Path temporary;

    private static Map<String, String> expected(String name) throws IOException {
        return Files.readAllLines(GOLDEN.resolve(name + ".tsv")).stream()
                .map(line -> line.split("\t", -1))
                .collect(Collectors.toMap(fields -> fields[0], fields -> fields[1]));
    }

    private static Map<String, String> texts(Map<String, ReadArrays.Read> found) {
        Map<String, String> texts = new TreeMap<>();
        found.forEach((name, array) -> texts.put(name, array.text()));
        return texts;
    }

    @ParameterizedTest
    @CsvSource({"v2, 70", "v3, 45", "numcodecs, 50"})
    void everyArrayIsAsZarrHasIt(String name, int more) throws IOException {
        Map<String, ReadArrays.Read> found =
                GoldenFolder.unpack(name, temporary).read();

        assertThat(texts(found))
                .containsExactlyInAnyOrderEntriesOf(new TreeMap<>(expected(name)))
                .hasSizeGreaterThan(more);
    }

    @ParameterizedTest
    @CsvSource({"v2, types/be/i4, filters/shuffle", "v3, types/i4, order/transposed"})
    void anArrayInOneFileNeedsNoReader(String name, String whole, String packed) throws IOException {
        Map<String, ReadArrays.Read> found =
                GoldenFolder.unpack(name, temporary, whole, packed).read(whole, packed);

        assertThat(found)
                .hasEntrySatisfying(
                        whole, array -> assertThat(array.offer().file()).isNotEqualTo(Offer.WRITTEN))
                .hasEntrySatisfying(
                        packed, array -> assertThat(array.offer().file()).isEqualTo(Offer.WRITTEN));
    }

    @Test
    void anArrayThatIsTheSourceHasTheNameOfItsFolder() throws IOException {
        GoldenFolder all = GoldenFolder.unpack("v3", temporary, "keys/dots");
        GoldenFolder alone = new GoldenFolder(Files.move(all.file("keys/dots"), temporary.resolve("alone.zarr")));

        assertThat(texts(alone.read())).isEqualTo(Map.of("alone", expected("v3").get("keys/dots")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "codecs/zlib/.zarray | 'zlib' | 'pcodec' | a codec of its chunks is not available: name=pcodec",
                "filters/shuffle/.zarray | 'shuffle' | 'quantize' | a codec of its chunks is not available: name=quantize",
                "codecs/zlib/.zarray | '<i4' | 'O' | its type is not one that is read: 'O'",
                "codecs/zlib/.zarray | '<i4' | '<i3' | its type is not one that is read: '<i3'",
                "codecs/zlib/.zarray | 203 | 202, 2 | its chunks have the shape",
                "codecs/zlib/.zarray | 40 | 400000000000 | its chunks are too long",
                "codecs/zlib/.zarray | 40 | 1000000000 | bytes each, more than",
                "codecs/zlib/.zarray | 40 | 0 | its chunks have the shape",
                "codecs/zlib/.zarray | 101 | 4611686018427387904 | it has the shape",
                "codecs/zlib/.zarray | 101 | -1 | its metadata has no valid shape",
                "codecs/zlib/.zarray | 'order': 'C' | 'order': 'X' | its metadata has no valid order",
                "codecs/zlib/.zarray | 'zarr_format': 2 | 'zarr_format': 3 | another version than its name",
                "codecs/zlib/.zarray | { | [ | its metadata is no JSON",
                "fills/i4/.zarray | 'fill_value': 7 | 'fill_value': 2147483648 | its fill value is none of its type",
                "fills/i4/.zarray | 'fill_value': 7 | 'fill_value': 1e999999999 | its fill value is none of its type",
                "texts/utf8/.zarray | 'vlen-utf8' | 'vlen-array' | its type is not one that is read",
                "fills/i4/.zarray | 'chunks' | 'lumps' | its metadata has no valid chunks",
            })
    void metadataOfVersion2ThatItCannotReadIsRefused(String file, String text, String other, String reason)
            throws IOException {
        requireRefused("v2", file, text, other, reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "keys/v2/zarr.json | 'regular' | 'rectilinear' | its chunk grid is not regular: name=rectilinear",
                "keys/v2/zarr.json | 'name': 'v2' | 'name': 'hash' | keys of an unknown kind: name=hash",
                "keys/v2/zarr.json | 'int16' | 'int4' | its type is not one that is read: 'int4'",
                "keys/v2/zarr.json | 'storage_transformers': [] | 'storage_transformers': [1] | it has storage"
                        + " transformers",
                "keys/v2/zarr.json | 'node_type': 'array' | 'node_type': 'array', 'more': 1 | does not know: [more]",
                "keys/v2/zarr.json | 'node_type': 'array' | 'node_type': 'tree' | has no valid node_type",
                "order/transposed/zarr.json | 'transpose' | 'turn' | codec of its chunks is not available: name=turn",
                "big/i2/zarr.json | 'big' | 'middle' | its metadata has no valid endian",
                "shards/plain/zarr.json | 'crc32c' | 'gzip' | indexes is not available: name=gzip",
                "shards/plain/zarr.json | 'index_location': 'end' | 'index_location': 'middle' | no valid"
                        + " index_location: found=middle",
                "shards/plain/zarr.json | 4, | 5, | its shards have the shape",
                "shards/plain/zarr.json | 4, | 4000000000, | its shards have more than",
            })
    void metadataOfVersion3ThatItCannotReadIsRefused(String file, String text, String other, String reason)
            throws IOException {
        requireRefused("v3", file, text, other, reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lzma/xz/.zarray | \"format\": 1 | \"format\": 3 | its codec lzma has a format that is not read: format=3",
                "delta/F/.zarray | \"dtype\": \"<i4\" | \"dtype\": \"<f2\" | its codec delta has a type that is not read: dtype=<f2",
                "delta/F/.zarray | \"astype\": \"<i4\" | \"astype\": \"<f4\" | its codec delta has a type that is not read: astype=<f4",
                "v3/delta/zarr.json | \"endian\": \"little\" | \"endian\": \"big\" | its codec delta comes with another order",
            })
    void settingsOfCodecsThatItCannotReadAreRefused(String file, String text, String other, String reason)
            throws IOException {
        String column = file.substring(0, file.lastIndexOf('/'));
        GoldenFolder folder = GoldenFolder.unpack("numcodecs", temporary, column);
        folder.change(file, text, other);

        assertThatThrownBy(() -> folder.read(column))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining(reason);
    }

    private void requireRefused(String name, String file, String text, String other, String reason) throws IOException {
        String column = file.substring(0, file.lastIndexOf('/'));
        GoldenFolder folder = GoldenFolder.unpack(name, temporary, column, "edges");
        String before = Files.readString(folder.file(file));
        String after = before.replaceAll("\\s+", " ")
                .replace("[ ", "[")
                .replace(" ]", "]")
                .replaceFirst(Pattern.quote(text.replace('\'', '"')), other.replace('\'', '"'));
        assertThat(after).isNotEqualTo(before.replaceAll("\\s+", " "));
        Files.writeString(folder.file(file), after);

        assertThatThrownBy(() -> folder.read(column))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.column()).isEqualTo(column))
                .hasMessageContaining(reason.replace('\'', '"'));
        assertThat(folder.read("edges")).hasSize(2);
    }

    @ParameterizedTest
    @CsvSource({
        "v2, codecs/gzip, 1.0, 5, cannot be unpacked",
        "v2, codecs/lz4, 1.0, -1, cannot be unpacked",
        "v2, blosc/zstd/1, 1.0, -1, cannot be unpacked",
        "v2, types/le/i4, 0.0, -1, 'its only chunk has 47 bytes, not 48'",
        "v2, types/le/i4, 0.0, 1, 'its only chunk has 49 bytes, not 48'",
        "v3, codecs/several, c/1/0, -1, its checksum is wrong",
        "v3, shards/plain, c/1/0, -1, its checksum is wrong",
        "v3, shards/none, c/0/0, -9999, and its index needs",
        "v3, keys/dots, c.1.1, -1, 'it has 11 bytes, not 12'",
        "v2, texts/utf8, 0, -1, cannot be unpacked",
        "v3, texts/utf8, c/0, -1, cannot be unpacked",
        "numcodecs, bz2/9, 0.0, -1, cannot be unpacked",
        "numcodecs, bz2/9, 0.0, 1, cannot be unpacked",
        "numcodecs, bz2/streams, 0.0, -1, cannot be unpacked",
        "numcodecs, lzma/xz, 0.0, -1, cannot be unpacked",
        "numcodecs, lzma/alone, 0.0, -20, cannot be unpacked",
        "numcodecs, texts/v3/3, c/1/0/0, -1, 'its chunk [1, 0, 0] cannot be unpacked'",
        "numcodecs, texts/shards, c/1/1, -1, cannot be unpacked",
        "numcodecs, delta/int8, 0.0, 0, cannot be unpacked",
    })
    void aChunkOfAnotherLengthIsRefused(String name, String array, String chunk, int more, String reason)
            throws IOException {
        GoldenFolder folder = GoldenFolder.unpack(name, temporary, array);
        Path file = folder.file(array + "/" + chunk);
        byte[] bytes = Files.readAllBytes(file);
        int length = more < 0 ? Math.max(0, bytes.length + more) : more == 1 ? bytes.length + 1 : more;
        Files.write(file, Arrays.copyOf(bytes, length));
        List<InputFile> inputs = folder.request().files();

        assertThatThrownBy(() -> folder.read(array))
                .isInstanceOfSatisfying(BadSource.class, e -> {
                    assertThat(inputs.get(e.file()).path()).isEqualTo(file);
                    assertThat(e.column()).isEqualTo(array);
                })
                .hasMessageContaining(reason);
    }

    @ParameterizedTest
    @CsvSource({"v2, codecs/gzip/.zarray", "v3, codecs/several/zarr.json"})
    void arraysWithoutMetadataOfTheirOwnHaveThatOfTheirGroup(String name, String own) throws IOException {
        GoldenFolder folder = GoldenFolder.unpack(name, temporary);
        Files.delete(folder.file(own));

        assertThat(texts(folder.read())).containsExactlyInAnyOrderEntriesOf(new TreeMap<>(expected(name)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"v2", "v3"})
    void anArrayThatOnlyTheCopyInItsGroupHasIsNone(String name) throws IOException {
        GoldenFolder folder = GoldenFolder.unpack(name, temporary, "edges");

        assertThat(folder.read()).containsOnlyKeys("edges/empty", "edges/scalar");
    }

    @ParameterizedTest
    @CsvSource({
        "v2, .zmetadata, codecs/gzip/.zarray, ../gzip/.zarray",
        "v3, zarr.json, '\"codecs/several\"', '\"../several\"'"
    })
    void aPathThatLeadsOutOfTheFolderIsRefused(String name, String file, String path, String out) throws IOException {
        GoldenFolder folder = GoldenFolder.unpack(name, temporary, "edges");
        folder.change(file, path, out);

        assertThatThrownBy(folder::read)
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("its consolidated metadata has a bad path: ../");
    }

    @Test
    void chunksThatWereNeverWrittenTakeNoMemoryWhenAFolderIsOpened() throws IOException {
        GoldenFolder folder = GoldenFolder.unpack("v3", temporary, "fills/i4");
        folder.change("fills/i4/zarr.json", "    7,\n", "    1000000000000000,\n");

        try (OpenedSource source = new ZarrReader().open(folder.request("fills/i4"), bytes -> {})) {
            assertThat(source.offers())
                    .singleElement()
                    .satisfies(offer -> assertThat(offer.shape()).containsExactly(1_000_000_000_000_000L, 5L));
        }
    }

    @Test
    void textsOfMoreChunksInARowThanTheHeapAllowsAreRefused() throws IOException {
        GoldenFolder folder = GoldenFolder.unpack("numcodecs", temporary, "texts/v2/2");
        folder.change(
                "texts/v2/2/.zarray",
                "\"shape\": [\n        7,\n        5",
                "\"shape\": [\n        7,\n        2000000000");

        try (OpenedSource source = new ZarrReader().open(folder.request(), bytes -> {})) {
            assertThat(source.offers().get(0).shape()).containsExactly(8L);
            assertThatThrownBy(() -> source.read((offer, position, length) -> ByteBuffer.allocate(length)))
                    .isInstanceOf(BadSource.class)
                    .hasMessageContaining("its chunks of rows 0 to 3 have more than");
        }
    }

    @Test
    void aChunkOfTextsThatTheHeapDoesNotAllowIsNotCalledDamaged() throws IOException {
        GoldenFolder folder = GoldenFolder.unpack("numcodecs", temporary, "texts/v2/2");
        try (RandomAccessFile chunk =
                new RandomAccessFile(folder.file("texts/v2/2/0.0").toFile(), "rw")) {
            chunk.setLength(ChunkReader.mostTextBytes() + 1L);
        }

        assertThatThrownBy(folder::read)
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.remedy()).contains("LARDER_READER_HEAP"))
                .hasMessageContaining("it takes more memory than the reader has (it has ");
    }

    @Test
    void aHistoryOfLzmaThatTheHeapDoesNotAllowIsNotCalledDamaged() throws IOException {
        GoldenFolder folder = GoldenFolder.unpack("numcodecs", temporary, "lzma/alone");
        Path chunk = folder.file("lzma/alone/0.0");
        byte[] bytes = Files.readAllBytes(chunk);
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(1, 2_000_000_000); // the length of the history
        Files.write(chunk, bytes);

        assertThatThrownBy(folder::read)
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.remedy()).contains("LARDER_READER_HEAP"))
                .hasMessageContaining("it takes more memory than the reader has");
    }

    @Test
    void aTextWithoutDimensionsInAShardIsRead() throws IOException {
        GoldenFolder folder = GoldenFolder.unpack("numcodecs", temporary, "texts/v3/0");
        Path chunk = folder.file("texts/v3/0/c");
        byte[] bytes = Files.readAllBytes(chunk);
        Map<String, String> whole = texts(folder.read());
        folder.change("texts/v3/0/zarr.json", "\"codecs\": [", """
            "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [],
                "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                "codecs": [\
            """);
        folder.change("texts/v3/0/zarr.json", "\n    ]\n}", "\n    ]}}]\n}");
        ByteBuffer shard = ByteBuffer.allocate(bytes.length + 2 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        shard.put(bytes).putLong(0).putLong(bytes.length);
        Files.write(chunk, shard.array());

        assertThat(texts(folder.read())).isEqualTo(whole);
    }

    @Test
    void theCodecDeltaMayNameItsTypesAsVersion3Does() throws IOException {
        GoldenFolder folder = GoldenFolder.unpack("numcodecs", temporary, "v3/delta");
        folder.change("v3/delta/zarr.json", "\"dtype\": \"<i4\"", "\"dtype\": \"int32\"");

        assertThat(texts(folder.read()))
                .isEqualTo(Map.of("v3/delta", expected("numcodecs").get("v3/delta")));
    }

    @Test
    void foldersOfOneNameAreRefused() throws IOException {
        GoldenFolder folder = GoldenFolder.unpack("v3", temporary, "edges");
        Files.createDirectory(folder.file("other"));
        Files.copy(folder.file("zarr.json"), folder.file("other/zarr.json"));
        List<InputFile> inputs = folder.request().files().stream()
                .map(input -> new InputFile(input.path(), input.level().replace("other/", "")))
                .toList();

        assertThatThrownBy(() -> new ZarrReader().open(new ReadRequest(inputs, "arrays", List.of(), 1), bytes -> {}))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("its arrays would be called");
    }

    /** Damaged bytes of a chunk that nothing proves give other numbers; else a damaged folder is a refusal. */
    @ParameterizedTest
    @ValueSource(strings = {"v2", "v3", "numcodecs"})
    void aDamagedFolderIsARefusalAtMost(String name) throws IOException {
        GoldenFolder folder = GoldenFolder.unpack(name, temporary);
        List<Path> files = folder.files();
        Random random = new Random(20_261_127);
        int refused = 0;
        int rounds = Integer.getInteger("larder.rounds", 40);
        for (int round = 0; round < rounds; round++) {
            Path file = files.get(random.nextInt(files.size()));
            byte[] whole = Files.readAllBytes(file);
            byte[] damaged = Arrays.copyOf(whole, round % 4 == 0 ? random.nextInt(whole.length + 1) : whole.length);
            for (int i = 1 + random.nextInt(4); i > 0 && damaged.length > 0; i--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            Files.write(file, damaged);
            String folderOf = folder.path().relativize(file).toString().replaceFirst("/(c/.*|[^/]*)$", "");
            Throwable failure = catchThrowable(() -> folder.read(folderOf));
            if (failure != null) {
                assertThat(failure).as("round=%s file=%s", round, file).isInstanceOf(IOException.class);
                refused++;
            }
            Files.write(file, whole);
        }
        assertThat(refused).isPositive();
    }
}
