package dev.larder.readers.hdf5;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.larder.reader.BadSource;
import dev.larder.reader.InputFile;
import dev.larder.reader.Offer;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.testing.ReadArrays;
import io.jhdf.HdfFile;
import io.jhdf.dataset.DatasetBase;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads what h5py has written; {@code golden/make.py} has made the files, and says what is in them. */
class Hdf5ReaderTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden");

    /** Where the index of a dataset says how long one of its chunks is. */
    private static final int LENGTH_OF_A_CHUNK = 40_920;

    /** Where its LZF filter says how long a chunk is unpacked. */
    private static final int LENGTH_OF_LZF = 71_904;

    /** Where a dataset with chunks says how many dimensions it has. */
    private static final int RANK_OF_A_DATASET = 1857;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "arrays.h5, 40",
        "latest.h5, 40",
        "fills.h5, 13",
        "filters.h5, 50",
        "edges.h5, 1",
        "types-earliest.h5, 26",
        "types-v110.h5, 26",
        "compounds-earliest.h5, 12",
        "compounds-v110.h5, 12",
        "links-earliest.h5, 10",
        "links-v110.h5, 10",
        "pandas.h5, 0"
    })
    void everyArrayIsAsNumpyHasIt(String file, int more) throws IOException {
        Map<String, String> expected = Files.readAllLines(GOLDEN.resolve("expected.tsv")).stream()
                .map(line -> line.split("\t", -1))
                .filter(fields -> fields[0].equals(file))
                .collect(Collectors.toMap(fields -> fields[1], fields -> fields[2]));

        Map<String, ReadArrays.Read> found = ReadArrays.of(new Hdf5Reader(), GOLDEN.resolve(file));

        assertThat(texts(found))
                .containsExactlyInAnyOrderEntriesOf(new TreeMap<>(expected))
                .hasSizeGreaterThan(more);
    }

    private static Map<String, String> texts(Map<String, ReadArrays.Read> found) {
        Map<String, String> texts = new TreeMap<>();
        found.forEach((name, array) -> texts.put(name, array.text()));
        return texts;
    }

    @Test
    void whatLiesInTheFileAsItIsNeedsNoReader() throws IOException {
        Map<String, ReadArrays.Read> found = ReadArrays.of(new Hdf5Reader(), GOLDEN.resolve("arrays.h5"));

        assertThat(found)
                .hasEntrySatisfying(
                        "types/be/f8", whole -> assertThat(whole.offer().file()).isZero())
                .hasEntrySatisfying(
                        "layouts/deflated",
                        packed -> assertThat(packed.offer().file()).isEqualTo(Offer.WRITTEN));
    }

    @ParameterizedTest
    @CsvSource({
        "broken, 'it is the soft link /good/x, which leads to nothing'",
        "circle, 'which leads to more than 16 other links'",
        "abroad, 'it is the soft link /outer, which leads to the external link arrays.h5:/scalar'",
        "outer, it is the external link arrays.h5:/scalar",
        "pairs, 'its type is a compound that numpy has no type for: fields=b'",
        "reference, its type is not one that is read: Reference",
        "null, it has no data",
    })
    void whatCannotBeReadIsRefusedByItsName(String column, String reason) {
        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), GOLDEN.resolve("refused.h5"), column))
                .isInstanceOfSatisfying(BadSource.class, e -> {
                    assertThat(e.column()).isEqualTo(column);
                    assertThat(e.remedy()).contains("--columns");
                })
                .hasMessageContaining(reason);
    }

    @ParameterizedTest
    @CsvSource({
        "g/loop, 'a group contains itself, or is too deep'",
        "opaque, its type is not one that is read: opaque data",
        "biased, its type is not one that is read: FloatingPoint of 4 bytes",
        "virtual, it is virtual: its data is in other datasets",
    })
    void whatTheLibraryCannotReadBlocksNoOtherColumn(String column, String reason) throws IOException {
        Path file = GOLDEN.resolve("odd.h5");

        assertThat(ReadArrays.of(new Hdf5Reader(), file, "good", "x")).containsOnlyKeys("good", "g/x");
        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), file, "good", column))
                .isInstanceOfSatisfying(BadSource.class, e -> {
                    assertThat(e.column()).isEqualTo(column);
                    assertThat(e.remedy()).startsWith("load others with --columns good");
                })
                .hasMessageContaining(reason);
    }

    @Test
    void allThatCannotBeReadIsNamedAtOnceAndWhatCan() {
        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), GOLDEN.resolve("refused.h5")))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.remedy()).isEqualTo("load others with --columns good"))
                .hasMessageStartingWith("7 columns cannot be read: ")
                .hasMessageContaining("broken (it is the soft link /good/x, which leads to nothing)")
                .hasMessageContaining("null (it has no data)");
    }

    @Test
    void whatMayNotBeReadIsNotCalledDamage() throws IOException {
        Path file = Files.copy(GOLDEN.resolve("fills.h5"), folder.resolve("x.h5"));
        Files.setPosixFilePermissions(file, Set.of());
        assumeThat(Files.isReadable(file)).as("root may read anything").isFalse();

        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), file)).hasMessage("permission denied");
    }

    @Test
    void aFileThatIsGoneIsNotCalledDamage() {
        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), folder.resolve("none.h5")))
                .isInstanceOfSatisfying(
                        BadSource.class,
                        e -> assertThat(e.remedy()).isEqualTo("check that the file is there and readable"))
                .hasMessage("it does not exist");
    }

    @Test
    void chunksOfAnotherRankThanTheirDatasetAreRefused() throws IOException {
        byte[] damaged = Files.readAllBytes(GOLDEN.resolve("fills.h5"));
        damaged[RANK_OF_A_DATASET] = 0;
        Path file = Files.write(folder.resolve("x.h5"), damaged);

        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), file))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("its chunks have the shape");
    }

    @ParameterizedTest
    @ValueSource(strings = {"newest.h5", "newer-types.h5"})
    void whatTheLibraryDoesNotKnowIsNotCalledDamage(String file) {
        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), GOLDEN.resolve(file)))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.remedy()).contains("write it again", "libver"))
                .hasMessageContaining("it uses a feature that the reader lacks");
    }

    @Test
    void columnsThatAreWantedAreReadBesideOthersThatCannotBe() throws IOException {
        assertThat(ReadArrays.of(new Hdf5Reader(), GOLDEN.resolve("refused.h5"), "good"))
                .containsOnlyKeys("good");
    }

    @Test
    void aChunkThatLiesOutsideOfItsFileIsRefusedAndTakesNoMemory() throws IOException {
        byte[] damaged = Files.readAllBytes(GOLDEN.resolve("arrays.h5"));
        damaged[LENGTH_OF_A_CHUNK + 3] = 100; // 1.6 GiB, more than the heap of tests
        Path file = Files.write(folder.resolve("x.h5"), damaged);

        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), file))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("it cannot be read (a part is outside of the file");
    }

    @Test
    void theSizeThatLzfClaimsIsNotBelievedAndTakesNoMemory() throws IOException {
        Map<String, ReadArrays.Read> whole =
                ReadArrays.of(new Hdf5Reader(), GOLDEN.resolve("arrays.h5"), "layouts/lzf");
        byte[] damaged = Files.readAllBytes(GOLDEN.resolve("arrays.h5"));
        damaged[LENGTH_OF_LZF + 3] = 100;
        Path file = Files.write(folder.resolve("x.h5"), damaged);

        Map<String, ReadArrays.Read> found = ReadArrays.of(new Hdf5Reader(), file, "layouts/lzf");

        assertThat(texts(found)).isEqualTo(texts(whole)).containsOnlyKeys("layouts/lzf");
    }

    @Test
    void aChecksumThatIsWrongIsRefused() throws IOException {
        byte[] damaged = Files.readAllBytes(GOLDEN.resolve("filters.h5"));
        byte[] chunk = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
        damaged[indexOf(damaged, chunk)] = 1;
        Path file = Files.write(folder.resolve("x.h5"), damaged);

        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), file, "checked"))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("the checksum of a chunk is wrong: found=");
    }

    private static int indexOf(byte[] bytes, byte[] part) {
        for (int at = 0; at <= bytes.length - part.length; at++) {
            if (Arrays.equals(bytes, at, at + part.length, part, 0, part.length)) {
                return at;
            }
        }
        throw new IllegalArgumentException("no such part");
    }

    @Test
    void aFileThatIsOpenForWritingIsRefused() {
        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), GOLDEN.resolve("open.h5")))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.remedy()).contains("wait until", "h5clear -s"))
                .hasMessage("it is open for writing: flags=5");
    }

    @Test
    void dimensionsMayBeLongerThanAnInteger() throws IOException {
        ReadRequest request =
                new ReadRequest(List.of(new InputFile(GOLDEN.resolve("huge.h5"), "")), "arrays", List.of(), 1);

        try (OpenedSource source = new Hdf5Reader().open(request, bytes -> {})) {
            assertThat(source.offers())
                    .allSatisfy(offer -> assertThat(offer.shape()).containsExactly(3_000_000_000L))
                    .hasSize(2);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "chunks, '[1099511627776, 1099511627776]'",
        "whole, '[4611686018427387904, 4]'",
        "bytes, [2305843009213693952]",
        "elements, [1152921504606846976]",
        "texts, [4611686018427387904]",
    })
    void aShapeOfMoreBytesThanAnyFileIsRefused(String column, String shape) throws IOException {
        ReadRequest request =
                new ReadRequest(List.of(new InputFile(GOLDEN.resolve("endless.h5"), "")), "arrays", List.of(column), 1);

        assertThatThrownBy(() -> new Hdf5Reader().open(request, bytes -> {}))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.column()).isEqualTo(column))
                .hasMessageContaining("it has the shape " + shape + ", which is more than 2^63 bytes");
    }

    @Test
    void rowsThatWereNeverWrittenAreNotVisitedOneByOne() throws IOException {
        ReadRequest request =
                new ReadRequest(List.of(new InputFile(GOLDEN.resolve("sparse.h5"), "")), "arrays", List.of(), 1);
        long rows = 1_000_000_000_000_000L;

        try (OpenedSource source = new Hdf5Reader().open(request, bytes -> {})) {
            assertThat(source.offers())
                    .extracting(Offer::name, offer -> offer.shape().get(0))
                    .containsExactlyInAnyOrder(
                            tuple("texts/bytes", 12L),
                            tuple("texts/offsets", rows + 1),
                            tuple("lists/values", 3L),
                            tuple("lists/offsets", rows + 1),
                            tuple("lists/shapes", rows),
                            tuple("unwritten/bytes", 0L),
                            tuple("unwritten/offsets", rows + 1),
                            tuple("few/bytes", 6L),
                            tuple("few/offsets", 351L));
        }
    }

    @Test
    void rowsOfChunksThatWereNeverWrittenAreEmpty() throws IOException {
        Map<String, ReadArrays.Read> few = ReadArrays.of(new Hdf5Reader(), GOLDEN.resolve("sparse.h5"), "few");

        List<Long> offsets = requireNonNull(few.get("few/offsets")).longs();

        assertThat(requireNonNull(few.get("few/bytes")).bytes())
                .asString(StandardCharsets.US_ASCII)
                .isEqualTo("oneend");
        assertThat(offsets.subList(0, 102)).containsOnly(0L);
        assertThat(offsets.subList(102, 350)).containsOnly(3L);
        assertThat(offsets.get(350)).isEqualTo(6);
    }

    @Test
    void rowsBehindTheLastIntegerAreRead() throws IOException {
        HdfFile file = BoundedFile.open(GOLDEN.resolve("huge.h5"));
        ByteBuffer chunks = ByteBuffer.allocate(1002);
        ByteBuffer whole = ByteBuffer.allocate(2);
        try {
            for (Map.Entry<String, ByteBuffer> wanted :
                    Map.of("chunks", chunks, "whole", whole).entrySet()) {
                DatasetBase dataset = (DatasetBase) file.getDatasetByPath(wanted.getKey());
                int length = wanted.getValue().remaining();
                long first = 3_000_000_000L - length;
                DatasetRows.of(file.getHdfBackingStorage(), dataset, 0, "x")
                        .read(first, length, first, wanted.getValue());
            }
        } finally {
            file.getHdfBackingStorage().close();
        }

        assertThat(chunks.array()).startsWith(9, 9, 0, 1, 2).endsWith(-12, -11, -10);
        assertThat(whole.array()).containsExactly(7, 7);
    }

    /** A damaged file gives other numbers, or a refusal. */
    @Test
    void aDamagedFileIsAnIoExceptionAtMost() throws IOException {
        List<byte[]> wholes = new ArrayList<>();
        for (String name : List.of(
                "arrays", "latest", "newest", "fills", "refused", "odd", "filters", "types-earliest", "types-v110")) {
            wholes.add(Files.readAllBytes(GOLDEN.resolve(name + ".h5")));
        }
        Random random = new Random(20_261_123);
        Function<byte[], Boolean> reads = bytes -> {
            try {
                Path file = Files.write(folder.resolve("x.h5"), bytes);
                return !ReadArrays.of(new Hdf5Reader(), file).isEmpty();
            } catch (IOException | OutOfMemoryError refused) { // a reader that has no memory left ends
                return false;
            }
        };
        for (int round = 0; round < Integer.getInteger("larder.rounds", 60); round++) {
            byte[] damaged = wholes.get(round % wholes.size()).clone();
            for (int i = 0; i < 8; i++) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            var unused = reads.apply(damaged);
        }
        for (byte[] whole : wholes) {
            assertThat(reads.apply(Arrays.copyOf(whole, whole.length / 2))).isFalse();
        }
    }
}
