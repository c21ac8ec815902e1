package dev.larder.internal.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of every length, from and to places that are aligned to nothing, against a copy of single bytes. */
class RowGatherTest {
    private static final int SEED = 20_261_123;
    private static final int ROWS = 37;
    private static final int GROUPS_BYTES = 70_000; // two groups, and the beginning of a third
    private static final byte UNTOUCHED = 77;

    private final Random random = new Random(SEED);

    /** Keeps the memory of sources, which are read by address alone. */
    private final List<UnsafeBuffer> sources = new ArrayList<>();

    static IntStream lengths() {
        return IntStream.concat(IntStream.rangeClosed(1, 300), IntStream.of(784, 3072, 4095, 30_720, 32_769, 153_600));
    }

    @ParameterizedTest
    @MethodSource("lengths")
    void rowsOfEveryLengthAreCopiedFromAndToEveryPlace(int length) {
        int shift = length % 7;
        UnsafeBuffer source = source(length, shift);
        long[] rows = random.longs(GROUPS_BYTES / length + 5, 0, ROWS).toArray();
        int byteSize = (rows.length - 2) * length; // all but the first and the last
        byte[] expected = new byte[shift + byteSize + 9];
        Arrays.fill(expected, UNTOUCHED);
        for (int i = 1; i < rows.length - 1; i++) {
            source.getBytes(shift + (int) rows[i] * length, expected, shift + (i - 1) * length, length);
        }
        RowGather gather = new RowGather("a", source.addressOffset() + shift, ROWS, length);

        for (UnsafeBuffer target : targets(expected.length)) {
            target.setMemory(0, expected.length, UNTOUCHED);

            gather.copy(rows, 1, rows.length - 1, target.byteArray(), target.addressOffset() + shift);

            byte[] found = new byte[expected.length];
            target.getBytes(0, found);
            assertThat(found).as("seed=%d length=%d", SEED, length).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 256, 784})
    void rowsThatAreNotThereAreRefusedWhereverTheyStand(int length) {
        UnsafeBuffer source = source(length, 0);
        RowGather gather = new RowGather("a", source.addressOffset(), ROWS, length);
        UnsafeBuffer target = targets(3 * GROUPS_BYTES)[0];

        for (int position : new int[] {0, 1, GROUPS_BYTES / length}) {
            for (long row : new long[] {-1, ROWS, Long.MIN_VALUE, Long.MAX_VALUE}) {
                long[] rows = new long[GROUPS_BYTES / length + 1];
                rows[position] = row;

                assertThatThrownBy(() -> gather.copy(rows, 0, rows.length, target.byteArray(), target.addressOffset()))
                        .isInstanceOf(IndexOutOfBoundsException.class)
                        .hasMessage(
                                "row is out of range: array=a position=" + position + " row=" + row + " rows=" + ROWS);
            }
        }
    }

    @Test
    void noRowsAreNoWork() {
        UnsafeBuffer source = source(8, 0);
        byte[] target = new byte[0];

        new RowGather("a", source.addressOffset(), ROWS, 8).copy(new long[] {99}, 1, 1, target, 0);

        assertThat(target).isEmpty();
    }

    private UnsafeBuffer source(int length, int shift) {
        byte[] bytes = new byte[shift + ROWS * length];
        random.nextBytes(bytes);
        UnsafeBuffer source = new UnsafeBuffer(ByteBuffer.allocateDirect(bytes.length));
        source.putBytes(0, bytes);
        sources.add(source);
        return source;
    }

    private static UnsafeBuffer[] targets(int byteSize) {
        return new UnsafeBuffer[] {
            new UnsafeBuffer(ByteBuffer.allocateDirect(byteSize)), new UnsafeBuffer(new byte[byteSize])
        };
    }
}
