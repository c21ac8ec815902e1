package dev.larder.readers.hdf5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.larder.reader.BadSource;
import dev.larder.reader.Offer;
import dev.larder.reader.testing.ReadArrays;
import java.io.IOException;
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
    @CsvSource({"arrays.h5, 40", "latest.h5, 40", "fills.h5, 13"})
    void everyArrayIsAsNumpyHasIt(String file, int more) throws IOException {
        Map<String, String> expected = Files.readAllLines(GOLDEN.resolve("expected.tsv")).stream()
                .map(line -> line.split("\t", -1))
                .filter(fields -> fields[0].equals(file))
                .collect(Collectors.toMap(fields -> fields[1], fields -> fields[2]));

        Map<String, ReadArrays.Read> found = ReadArrays.of(new Hdf5Reader(), GOLDEN.resolve(file));

        Map<String, String> texts = new TreeMap<>();
        found.forEach((name, array) -> texts.put(name, array.text()));
        assertThat(texts)
                .containsExactlyInAnyOrderEntriesOf(new TreeMap<>(expected))
                .hasSizeGreaterThan(more);
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
        "soft, it is a link to another place",
        "outer, it is a link to another place",
        "pairs, its type is not one that numpy has: CompoundDataType of 12 bytes",
        "reference, its type is not one that numpy has: Reference",
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
        "opaque, its type is not one that numpy has: opaque data",
        "virtual, it uses what the reader does not know (Virtual storage is not supported)",
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
                .hasMessageStartingWith("5 columns cannot be read: ")
                .hasMessageContaining("soft (it is a link to another place)")
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
                .hasMessageContaining("it uses what the reader does not know");
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
                .hasMessageContaining("it cannot be read (Failed to read chunk");
    }

    @Test
    void lzfThatUnpacksToAnotherSizeThanItsChunkIsRefusedAndTakesNoMemory() throws IOException {
        byte[] damaged = Files.readAllBytes(GOLDEN.resolve("arrays.h5"));
        damaged[LENGTH_OF_LZF + 3] = 100;
        Path file = Files.write(folder.resolve("x.h5"), damaged);

        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), file, "layouts/lzf"))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("its LZF filter unpacks to another size than that of a chunk, 15360 bytes");
    }

    /** A damaged file gives other numbers, or a refusal. */
    @Test
    void aDamagedFileIsAnIoExceptionAtMost() throws IOException {
        List<byte[]> wholes = new ArrayList<>();
        for (String name : List.of("arrays", "latest", "newest", "fills", "refused", "odd")) {
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
