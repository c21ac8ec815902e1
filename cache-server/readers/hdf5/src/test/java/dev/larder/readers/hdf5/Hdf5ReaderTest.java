package dev.larder.readers.hdf5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads what h5py has written; {@code golden/make.py} has made the files, and says what is in them. */
class Hdf5ReaderTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden");

    /** Where the index of a dataset says how long one of its chunks is. */
    private static final int LENGTH_OF_A_CHUNK = 40_920;

    /** Where its LZF filter says how long a chunk is unpacked. */
    private static final int LENGTH_OF_LZF = 71_904;

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

    @Test
    void whatTheLibraryDoesNotKnowIsNotCalledDamage() {
        assertThatThrownBy(() -> ReadArrays.of(new Hdf5Reader(), GOLDEN.resolve("newest.h5")))
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
        for (String name : List.of("arrays", "latest", "newest", "fills", "refused")) {
            wholes.add(Files.readAllBytes(GOLDEN.resolve(name + ".h5")));
        }
        Random random = new Random(20_261_123);
        Function<byte[], Boolean> reads = bytes -> {
            try {
                Path file = Files.write(folder.resolve("x.h5"), bytes);
                return !ReadArrays.of(new Hdf5Reader(), file).isEmpty();
            } catch (IOException refused) {
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
