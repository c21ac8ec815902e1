package dev.larder.npy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NpyHeaderTest {
    private static final Dtype FLOAT = Dtype.parse("<f4");

    @ParameterizedTest
    @ValueSource(ints = {1, 16, 64, 128, 4096, 8192})
    void dataStartsWhereItIsWanted(int alignment) {
        ByteBuffer header = NpyHeader.of(FLOAT, Order.C, 3, 4).encode(alignment);

        assertThat(header.limit())
                .isPositive()
                .satisfies(limit -> assertThat(limit % alignment).isZero());
        assertThat(header.get(header.limit() - 1)).isEqualTo((byte) '\n');
        assertThat(read(header).dataOffset()).isEqualTo(header.limit());
    }

    @ParameterizedTest
    @CsvSource({"64, 0", "4096, 64", "4096, 192", "128, 127"})
    void dataStartsSomeBytesBehindAMultiple(int alignment, int behind) {
        NpyHeader array = NpyHeader.of(FLOAT, Order.C, 3, 4);

        ByteBuffer header = array.encode(alignment, behind);

        assertThat(header.limit()).isGreaterThanOrEqualTo(alignment);
        assertThat(header.limit() % alignment).isEqualTo(behind);
        assertThat(read(header).dataOffset()).isEqualTo(header.limit());
    }

    @Test
    void aHeaderLongerThanOnePageTakesTwo() {
        NpyHeader header = NpyHeader.of(structure(250, "field"), Order.C, 2);

        assertThat(header.encode(4096).limit()).isEqualTo(8192);
        assertThat(header.encode(4096, 192).limit()).isEqualTo(8192 + 192);
        assertThat(read(header.encode(4096, 192)).dtype()).isEqualTo(header.dtype());
    }

    @Test
    void aHeaderThatNumpyWouldRefuseIsNotWritten() {
        NpyHeader fits = NpyHeader.of(structure(450, "field"), Order.C, 2);

        assertThat(fits.encode(64).limit()).isGreaterThan(8192).isLessThan(10_010);
        assertThatThrownBy(() -> fits.encode(4096))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("limit=10000");
        assertThatThrownBy(() -> NpyHeader.of(structure(600, "field"), Order.C, 2))
                .hasMessageContaining("header too long for numpy");
    }

    @Test
    void theLimitOfNumpyCountsCharactersNotBytes() {
        NpyHeader header = NpyHeader.of(structure(100, "日".repeat(40)), Order.C, 2);

        assertThat(header.version()).isEqualTo(3);
        assertThat(header.encode(4096).limit()).isEqualTo(16384);
    }

    @Test
    void shapesAreCopiedInAndOut() {
        long[] shape = {3, 4};
        NpyHeader header = NpyHeader.of(FLOAT, Order.F, shape);

        shape[0] = 9;
        header.shape()[1] = 9;

        assertThat(header.shape()).containsExactly(3, 4);
    }

    @Test
    void sizesPassTwoGibibytes() {
        NpyHeader header = NpyHeader.of(FLOAT, Order.C, 1L << 40, 3);

        assertThat(header.elementCount()).isEqualTo(3L << 40);
        assertThat(header.byteSize()).isEqualTo(12L << 40);
    }

    @Test
    void elementsWithoutBytesAreCounted() {
        NpyHeader header = NpyHeader.of(Dtype.parse("|V0"), Order.C, 5, 7);

        assertThat(header.elementCount()).isEqualTo(35);
        assertThat(header.byteSize()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE / 4 + 1})
    void impossibleShapesAreRefused(long dimension) {
        assertThatThrownBy(() -> NpyHeader.of(FLOAT, Order.C, dimension))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("impossible array")
                .hasMessageContaining("shape=[" + dimension + "]");
    }

    @Test
    void moreThan64DimensionsAreRefused() {
        assertThat(NpyHeader.of(FLOAT, Order.C, new long[64]).dimensions()).isEqualTo(64);
        assertThatThrownBy(() -> NpyHeader.of(FLOAT, Order.C, new long[65])).hasMessageContaining("dimensions");
    }

    @Test
    void readingLeavesTheChannelAtTheData(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("a.npy");
        ByteBuffer header = NpyHeader.of(FLOAT, Order.C, 1).encode(4096);
        Files.write(file, ByteBuffer.allocate(4200).put(header).array());

        try (FileChannel channel = FileChannel.open(file)) {
            assertThat(NpyHeader.read(channel, "a.npy").dataOffset()).isEqualTo(4096);
            assertThat(channel.position()).isEqualTo(4096);
        }
    }

    @Test
    void aLongHeaderOfAnotherWriterIsReadUpToTheLimit() {
        String literal = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
        ByteBuffer file = ByteBuffer.allocate(12 + NpyHeader.MAX_LENGTH);
        file.put(HeaderWriter.MAGIC).put((byte) 2).put((byte) 0).put(new byte[] {0, 0, 16, 0});
        file.put(literal.getBytes(StandardCharsets.US_ASCII));
        while (file.hasRemaining()) {
            file.put((byte) ' ');
        }

        assertThat(read(file.flip()).dataOffset()).isEqualTo(12 + NpyHeader.MAX_LENGTH);
    }

    private static Dtype structure(int fields, String name) {
        return Dtype.parse(IntStream.range(0, fields)
                .mapToObj(i -> "('" + name + i + "', '|u1')")
                .collect(Collectors.joining(", ", "[", "]")));
    }

    private static NpyHeader read(ByteBuffer header) {
        return Bytes.header(Bytes.of(header), "memory");
    }
}
