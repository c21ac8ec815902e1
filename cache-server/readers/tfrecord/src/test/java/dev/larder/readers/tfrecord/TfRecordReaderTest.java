package dev.larder.readers.tfrecord;

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
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads records and Examples as TensorFlow writes them; {@code golden/make.py} has made the files, and says what is in them. */
class TfRecordReaderTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden");

    @TempDir
    Path folder;

    private static Map<String, String> expected(String as) throws IOException {
        return Files.readAllLines(GOLDEN.resolve("expected.tsv")).stream()
                .map(line -> line.split("\t", -1))
                .filter(fields -> fields[0].equals(as))
                .collect(Collectors.toMap(fields -> fields[1], fields -> fields[2]));
    }

    private static Map<String, String> texts(Map<String, ReadArrays.Read> found) {
        Map<String, String> texts = new TreeMap<>();
        found.forEach((name, array) -> texts.put(name, array.text()));
        return texts;
    }

    @ParameterizedTest
    @ValueSource(strings = {"all.tfrecord", "all.tfrecord.gz"})
    void everyFeatureIsAnArrayOrAColumn(String file) throws IOException {
        assertThat(texts(ReadArrays.of(new TfRecordReader(), GOLDEN.resolve(file))))
                .containsExactlyInAnyOrderEntriesOf(expected("arrays"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"arrays", "bytes"})
    void filesOfOneLevelAreOneTable(String as) throws IOException {
        List<InputFile> parts = IntStream.range(0, 3)
                .mapToObj(part -> new InputFile(GOLDEN.resolve("table/t.tfrecord-0000" + part + "-of-00003"), ""))
                .toList();

        assertThat(texts(ReadArrays.of(new TfRecordReader(), new ReadRequest(parts, as, List.of(), 3))))
                .containsExactlyInAnyOrderEntriesOf(expected(as));
    }

    @Test
    void onlyFeaturesThatAreWantedAreRead() throws IOException {
        assertThat(ReadArrays.of(new TfRecordReader(), GOLDEN.resolve("all.tfrecord"), "label", "box"))
                .containsOnlyKeys("image/label", "box");
        assertThat(ReadArrays.of(new TfRecordReader(), GOLDEN.resolve("all.tfrecord"), "tags"))
                .containsOnlyKeys("tags.offsets", "tags.items/values", "tags.items/offsets");
    }

    @ParameterizedTest
    @CsvSource({
        "other.tfrecord, is no tf.train.Example",
        "mixed.tfrecord, 'feature a is FLOATS, and was INTEGERS before'",
        "sequence.tfrecord, 'record 1 is no tf.train.Example (it has feature_lists, as a tf.train.SequenceExample has)'",
    })
    void whatCannotBeReadIsRefusedWithTheReason(String file, String reason) {
        assertThatThrownBy(() -> ReadArrays.of(new TfRecordReader(), GOLDEN.resolve(file)))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining(reason);
    }

    @ParameterizedTest
    @CsvSource({
        "1a00, an Example has no field 3 of wire type 2",
        "0801, an Example has no field 1 of wire type 0",
        "0a021200, Features has no field 2 of wire type 2",
        "0a 07 0a05 0a0161 1a00, an entry of Features has no field 3 of wire type 2",
        "0a 09 0a07 0a0161 1200 1200, feature a is there twice",
        "0a 09 0a07 0a0161 1202 2200, a Feature has no field 4 of wire type 2",
        "0a 0b 0a09 0a0161 1204 1a02 1200, a list of INTEGERS has no field 2 of wire type 2",
        "0a 0b 0a09 0a0161 1204 1202 0801, a list of FLOATS has no field 1 of wire type 0",
    })
    void anUnknownFieldIsRefused(String record, String reason) throws IOException {
        byte[] bytes = HexFormat.of().parseHex(record.replace(" ", ""));
        Path file = Files.write(folder.resolve("x.tfrecord"), record(bytes));

        assertThatThrownBy(() -> ReadArrays.of(new TfRecordReader(), file))
                .isInstanceOf(BadSource.class)
                .hasMessage("record 0 is no tf.train.Example (" + reason + ")");
    }

    @Test
    void recordsWithUnknownFieldsLoadAsBytes() throws IOException {
        ReadRequest request =
                new ReadRequest(List.of(new InputFile(GOLDEN.resolve("sequence.tfrecord"), "")), "bytes", List.of(), 1);

        assertThat(ReadArrays.of(new TfRecordReader(), request)).containsKey("record/values");
    }

    @Test
    void aFeatureWithoutAValueInAnyRecordIsAColumnOfEmptyRows() throws IOException {
        Map<String, ReadArrays.Read> found = ReadArrays.of(new TfRecordReader(), GOLDEN.resolve("empty.tfrecord"));

        assertThat(texts(found))
                .containsOnlyKeys("n", "none/values", "none/offsets", "none.mask")
                .containsEntry("none/values", "|u1 [0] ")
                .containsEntry("none.mask", "|b1 [2] 0101");
    }

    @Test
    void aFileThatIsGoneIsNotCalledDamage() {
        assertThatThrownBy(() -> ReadArrays.of(new TfRecordReader(), folder.resolve("none.tfrecord")))
                .isInstanceOf(BadSource.class)
                .hasMessage("it does not exist");
    }

    /** Its checksums find every change of a byte. */
    @Test
    void aDamagedFileIsRefusedWithThePlace() throws IOException {
        byte[] whole = Files.readAllBytes(GOLDEN.resolve("all.tfrecord"));
        Random random = new Random(20_261_123);
        for (int round = 0; round < Integer.getInteger("larder.rounds", 100); round++) {
            byte[] damaged = whole.clone();
            damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            assertRefused(damaged);
        }
        assertRefused(Arrays.copyOf(whole, whole.length / 2));
    }

    private void assertRefused(byte[] bytes) throws IOException {
        Path file = Files.write(folder.resolve("x.tfrecord"), bytes);
        assertThatThrownBy(() -> ReadArrays.of(new TfRecordReader(), file))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.offset()).isNotNegative());
    }

    /** Frames a record. */
    private static byte[] record(byte[] data) {
        ByteBuffer head =
                ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(data.length);
        return ByteBuffer.allocate(Long.BYTES + 2 * Integer.BYTES + data.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(head.array())
                .putInt(maskedCrc(head.array()))
                .put(data)
                .putInt(maskedCrc(data))
                .array();
    }

    private static int maskedCrc(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return Integer.rotateRight((int) crc.getValue(), 15) + 0xa282ead8;
    }
}
