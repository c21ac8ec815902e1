package dev.larder.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.testing.Rounds;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** An index with the right checksum and wrong numbers: it is refused, and nothing else happens. */
class HostileIndexTest {
    private static final Rounds ROUNDS = Rounds.of("spoiled indices", 40_000, 5);
    private static final int[] NUMBERS = {
        Integer.MIN_VALUE, -1, 0, 1, 2, 3, 127, 128, 1 << 20, 1 << 30, Integer.MAX_VALUE
    };

    private final Random random = ROUNDS.random();

    @Test
    void wrongNumbersAreRefusedWhateverTheyAre() {
        byte[] good = IndexWriter.write(
                List.of(entry("a", 3, 4), entry("folder/b"), entry("c", 0)), Map.of("pack-0000", 8192L), 3, 0);
        int refused = 0;
        for (int round = 0; round < ROUNDS.count(); round++) {
            refused += isRefused(spoil(good.clone(), good.length)) ? 1 : 0;
        }
        System.out.println(ROUNDS + " refused=" + refused);
        assertThat(refused).isGreaterThan(ROUNDS.count() / 10);
    }

    @Test
    void wrongNumbersInTheHeaderOfALargeIndexAreRefusedWhateverTheyAre() {
        List<ArrayEntry> arrays =
                IntStream.range(0, 600).mapToObj(i -> entry("a" + i, i)).toList();
        byte[] good = IndexWriter.write(arrays, Map.of("pack-0000", 8192L), 3, 0);
        int refused = 0;
        for (int round = 0; round < ROUNDS.count() / 100; round++) {
            refused += isRefused(spoil(good.clone(), IndexDescriptor.HEADER_LENGTH)) ? 1 : 0;
        }

        assertThat(refused).isGreaterThan(ROUNDS.count() / 1000);
    }

    private static ArrayEntry entry(String name, long... shape) {
        return new ArrayEntry(name, "<f4", 'C', shape, "pack-0000", 4096, 48, 7);
    }

    private byte[] spoil(byte[] index, int end) {
        ByteBuffer bytes = ByteBuffer.wrap(index).order(ByteOrder.LITTLE_ENDIAN);
        for (int steps = random.nextInt(3); steps >= 0; steps--) {
            int at = IndexDescriptor.ARRAY_COUNT_OFFSET + 4 * random.nextInt((end - 16) / 4);
            bytes.putInt(at, random.nextBoolean() ? NUMBERS[random.nextInt(NUMBERS.length)] : random.nextInt());
        }
        bytes.putLong(IndexDescriptor.BYTE_SIZE_OFFSET, index.length);
        IndexTest.renewSums(bytes);
        return index;
    }

    private static boolean isRefused(byte[] bytes) {
        try {
            IndexReader index = new IndexReader(ByteBuffer.wrap(bytes), "the index");
            index.find("a");
            index.find("folder/b");
            for (int array = 0; array < index.arrayCount(); array++) {
                index.segmentOf(index.array(array).name());
            }
            for (int segment = 0; segment < index.segmentCount(); segment++) {
                index.segment(segment);
            }
            return false;
        } catch (IllegalArgumentException notFoundByName) {
            return false;
        } catch (LarderException refused) {
            assertThat(refused.code()).isEqualTo(ErrorCode.CHECKSUM);
            return true;
        }
    }
}
