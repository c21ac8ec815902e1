package dev.larder.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IndexTest {
    private static final int SEED = 20_260_101;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 64, 65, 10_000})
    void everyArrayIsFoundByNameAndByNumber(int count) {
        List<ArrayEntry> arrays = IntStream.range(0, count)
                .mapToObj(i -> entry("folder/array-" + i, i))
                .collect(Collectors.toList());
        Collections.shuffle(arrays, new Random(SEED));

        IndexReader index = indexOf(arrays);

        assertThat(index.arrayCount()).isEqualTo(count);
        assertThat(index.segmentCount()).isEqualTo(count);
        arrays.forEach(array -> assertSame(index.find(array.name()), array));
        arrays.sort(Comparator.comparing(ArrayEntry::name));
        for (int i = 0; i < count; i++) {
            assertSame(index.array(i), arrays.get(i));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 64, 10_000})
    void whatIsNotThereIsNotFound(int count) {
        IndexReader index = indexOf(
                IntStream.range(0, count).mapToObj(i -> entry("a" + i, i)).toList());

        for (String absent : List.of("", "a", "a-1", "A0", "a0 ", "a0\0", "a" + count, "größe", "x".repeat(5_000))) {
            assertThat(index.find(absent)).isNull();
        }
        for (int i = 0; i < 10_000; i++) {
            assertThat(index.find("absent-" + i)).isNull();
        }
        assertThatThrownBy(() -> index.array(count)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> index.array(-1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> index.segmentFile(count)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void namesThatAllFallIntoOneSlotAreToldApart() {
        int slots = 256; // what 64 arrays get
        List<String> colliding = new ArrayList<>();
        for (int i = 0; colliding.size() < 100; i++) {
            if ((IndexDescriptor.hash(utf8("name-" + i)) & (slots - 1)) == slots - 3) { // so that probing wraps around
                colliding.add("name-" + i);
            }
        }
        IndexReader index = indexOf(
                IntStream.range(0, 64).mapToObj(i -> entry(colliding.get(i), i)).toList());

        for (int i = 0; i < 64; i++) {
            assertSame(index.find(colliding.get(i)), entry(colliding.get(i), i));
        }
        colliding
                .subList(64, 100)
                .forEach(absent -> assertThat(index.find(absent)).isNull());
    }

    @Test
    void namesOfAnyScriptAndLengthAreKept() {
        List<ArrayEntry> arrays = new ArrayList<>();
        for (String name : List.of("größe", "日本語/データ", "\uD83D\uDE00", "\uFF21", "=", "x".repeat(1024), ".hidden")) {
            arrays.add(entry(name, arrays.size()));
        }

        IndexReader index = indexOf(arrays);

        arrays.forEach(array -> assertSame(index.find(array.name()), array));
    }

    @Test
    void everyFieldOfAnEntryIsKept() {
        ArrayEntry array = new ArrayEntry(
                "a",
                "[('x', '<f4'), ('größe', '>i2')]",
                'F',
                new long[] {1L << 40, 0, 3},
                "pack-0000",
                1L << 41,
                0,
                -1);
        IndexReader index = read(
                IndexWriter.write(List.of(array), Map.of("pack-0000", (1L << 41) + 5), 1L << 33, 1_767_225_600_123L));

        assertSame(index.find("a"), array);
        assertThat(index.version()).isEqualTo(1L << 33);
        assertThat(index.publishedEpochMs()).isEqualTo(1_767_225_600_123L);
        assertThat(index.segmentFile(0)).isEqualTo("pack-0000");
        assertThat(index.segmentByteSize(0)).isEqualTo((1L << 41) + 5);
        assertThat(index.digest()).isEqualTo(Digest.hex(Digest.of(List.of(array))));
    }

    @Test
    void filesOutsideTheStoreKeepWhatTheyAreKnownBy() {
        ArrayEntry array = new ArrayEntry("a", "|u1", 'C', new long[] {5}, "/data/a.npy", 80, 5, 1);
        SegmentFile file = new SegmentFile("/data/a.npy", 85, 1_767_225_600_123_456_789L, -2);
        IndexReader index = read(IndexWriter.write(List.of(array), List.of(file), 1, 0));

        assertSame(index.find("a"), array);
        assertThat(index.segment(0)).isEqualTo(file);
    }

    @Test
    void arraysMayShareASegment() {
        ArrayEntry first = new ArrayEntry("a", "|u1", 'C', new long[] {5}, "pack-0000", 64, 5, 1);
        ArrayEntry second = new ArrayEntry("b", "|u1", 'C', new long[] {7}, "pack-0000", 128, 7, 2);
        IndexReader index = read(IndexWriter.write(List.of(second, first), Map.of("pack-0000", 135L), 1, 0));

        assertThat(index.segmentCount()).isEqualTo(1);
        assertSame(index.find("a"), first);
        assertSame(index.find("b"), second);
    }

    @Test
    void sameArraysInAnotherOrderGiveTheSameBytes() {
        List<ArrayEntry> arrays =
                IntStream.range(0, 50).mapToObj(i -> entry("a" + i, i)).collect(Collectors.toList());
        byte[] first = bytesOf(arrays);
        Collections.shuffle(arrays, new Random(SEED));

        assertThat(bytesOf(arrays)).isEqualTo(first);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everySingleFlippedBitIsNoticed(boolean isOfAnEarlierBuild) {
        byte[] written = bytesOf(List.of(entry("a", 1), entry("b", 2)));
        byte[] good = isOfAnEarlierBuild ? withoutSums(written) : written;
        for (int bit = 0; bit < good.length * 8; bit++) {
            byte[] bad = good.clone();
            bad[bit / 8] ^= (byte) (1 << bit % 8);
            assertDamaged(() -> read(bad));
        }
    }

    @Test
    void aFlippedBitIsNoticedBeforeItsBlockIsUsed() {
        List<ArrayEntry> arrays =
                IntStream.range(0, 2_000).mapToObj(i -> entry("a" + i, i)).toList();
        byte[] good = bytesOf(arrays);
        IndexReader sound = read(good);
        Random random = new Random(SEED);
        int refused = 0;
        for (int round = 0; round < 200; round++) {
            byte[] bad = good.clone();
            bad[IndexDescriptor.BLOCK_LENGTH + random.nextInt(good.length - IndexDescriptor.BLOCK_LENGTH)] ^= 4;
            IndexReader index = read(bad);
            for (int i = random.nextInt(10); i < arrays.size(); i += 10) {
                refused += isRefused(index, arrays.get(i).name(), sound) ? 1 : 0;
            }
            assertDamaged(index::requireWhole);
        }
        assertThat(refused).isBetween(200, 200 * 100);
    }

    @Test
    void aReaderOfOneArrayOfAHundredThousandReadsAFewBlocks() {
        byte[] good = bytesOf(
                IntStream.range(0, 100_000).mapToObj(i -> entry("a" + i, i)).toList());
        int blocks = IndexDescriptor.blocks(
                ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN).getInt(IndexDescriptor.SUMS_OFFSET_OFFSET));
        int needed = 0;
        for (int block = 0; block < blocks; block++) {
            int at = block * IndexDescriptor.BLOCK_LENGTH + 200;
            good[at] ^= 1;
            needed += canFind(good, "a77777") ? 0 : 1;
            good[at] ^= 1;
        }

        assertThat(blocks).isGreaterThan(8_000);
        assertThat(needed).isBetween(5, 16);
    }

    @Test
    void anIndexOfAnEarlierBuildIsReadAsBefore() {
        List<ArrayEntry> arrays =
                IntStream.range(0, 500).mapToObj(i -> entry("a" + i, i)).toList();

        IndexReader index = read(withoutSums(bytesOf(arrays)));

        arrays.forEach(array -> assertSame(index.find(array.name()), array));
        index.requireWhole();
    }

    private static boolean canFind(byte[] index, String name) {
        try {
            return read(index).find(name) != null;
        } catch (LarderException e) {
            return false;
        }
    }

    /** Returns whether an array is refused. If it is not, all about it must be right. */
    private static boolean isRefused(IndexReader index, String name, IndexReader sound) {
        try {
            assertSame(index.find(name), Objects.requireNonNull(sound.find(name)));
            assertThat(index.segmentOf(name)).isEqualTo(sound.segmentOf(name));
            return false;
        } catch (LarderException e) {
            assertThat(e).hasMessageContaining("index is damaged: file=the index crc32=");
            return true;
        }
    }

    private static void assertDamaged(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isIn(ErrorCode.CHECKSUM, ErrorCode.REFUSED))
                .hasMessageContaining("file=the index");
    }

    /** Returns the same index as earlier builds wrote it. */
    private static byte[] withoutSums(byte[] index) {
        int end = ByteBuffer.wrap(index).order(ByteOrder.LITTLE_ENDIAN).getInt(IndexDescriptor.SUMS_OFFSET_OFFSET);
        ByteBuffer bytes = ByteBuffer.wrap(Arrays.copyOf(index, end)).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(IndexDescriptor.SUMS_OFFSET_OFFSET, 0);
        bytes.putLong(IndexDescriptor.BYTE_SIZE_OFFSET, end);
        renewSums(bytes);
        return bytes.array();
    }

    /** Makes the checksums of an index right, as far as the sums are inside it. */
    static void renewSums(ByteBuffer index) {
        int sums = index.getInt(IndexDescriptor.SUMS_OFFSET_OFFSET);
        int blocks = IndexDescriptor.blocks(sums);
        for (int block = 0; sums > 0 && block < blocks && sums + (block + 1L) * 4 <= index.capacity(); block++) {
            index.putInt(sums + block * Integer.BYTES, IndexDescriptor.blockSum(index, block, sums));
        }
        CRC32C crc = new CRC32C();
        IndexDescriptor.update(crc, index, 0, index.capacity());
        index.putInt(IndexDescriptor.CRC32C_OFFSET, (int) crc.getValue());
    }

    @Test
    void anIndexIsReadByManyThreadsAtOnce() {
        List<ArrayEntry> arrays =
                IntStream.range(0, 1_000).mapToObj(i -> entry("a" + i, i)).toList();
        IndexReader index = indexOf(arrays);

        arrays.parallelStream().forEach(array -> assertSame(index.find(array.name()), array));
    }

    private static ArrayEntry entry(String name, int i) {
        return new ArrayEntry(
                name, i % 2 == 0 ? "<f4" : "|u1", 'C', new long[i % 5], name + ".npy", 4096, i * 17L, i * 31);
    }

    private static IndexReader indexOf(List<ArrayEntry> arrays) {
        return read(bytesOf(arrays));
    }

    private static byte[] bytesOf(List<ArrayEntry> arrays) {
        Map<String, Long> lengths =
                arrays.stream().collect(Collectors.toMap(ArrayEntry::file, array -> array.offset() + array.byteSize()));
        return IndexWriter.write(arrays, lengths, 3, 0);
    }

    private static IndexReader read(byte[] bytes) {
        return new IndexReader(ByteBuffer.wrap(bytes), "the index");
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void assertSame(@Nullable ArrayEntry actual, ArrayEntry expected) {
        assertThat(text(actual)).isEqualTo(text(expected));
    }

    private static String text(@Nullable ArrayEntry entry) {
        return entry == null ? "none" : entry.toString().replaceAll("shape=[^,]*", Arrays.toString(entry.shape()));
    }
}
