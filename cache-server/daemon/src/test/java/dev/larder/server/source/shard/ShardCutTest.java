package dev.larder.server.source.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.ShardRows;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Partitioning;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.version.ShardRecord;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cuts arrays of sources, without a daemon: what is refused, and what very few rows become. */
class ShardCutTest {
    private static final SourceIdentity FILE = new SourceIdentity(Path.of("/source"), 1, 1, 1, 1);

    private static final class Bytes implements ArrayData {
        private final byte[] bytes;

        Bytes(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public ReadableByteChannel open() {
            return Channels.newChannel(new ByteArrayInputStream(bytes));
        }
    }

    private static SourceArray array(ColumnPart part, Order order, String dtype, byte[] bytes, long... shape) {
        NpyHeader header = NpyHeader.of(Dtype.parse(dtype), order, shape);
        ArrayName name = new ArrayName("d", part.arrayName("c"));
        return new SourceArray(name, header, new Bytes(bytes), List.of(FILE), part);
    }

    private static byte[] longs(long... numbers) {
        ByteBuffer bytes = ByteBuffer.allocate(numbers.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        LongStream.of(numbers).forEach(bytes::putLong);
        return bytes.array();
    }

    private static List<SourceArray> column(int valueBytes, long... offsets) {
        return List.of(
                array(ColumnPart.BYTES_VALUES, Order.C, "|u1", new byte[valueBytes], valueBytes),
                array(ColumnPart.BYTES_OFFSETS, Order.C, "<i8", longs(offsets), offsets.length));
    }

    private static List<CutArray> cut(List<SourceArray> arrays, int index, int count) {
        return new ShardCut(null, ColumnMemory.anonymous()).of(arrays, new ShardRows(index, count));
    }

    private static byte[] bytes(SourceArray array) throws IOException {
        try (ReadableByteChannel data = array.open()) {
            return Channels.newInputStream(data).readAllBytes();
        }
    }

    @Test
    void offsetsOfAShardBeginWithZeroAndItsValuesWhereItsFirstRowDoes() throws IOException {
        List<CutArray> cut = cut(column(10, 0, 3, 3, 7, 10), 1, 2);

        assertThat(cut.get(0).rows()).containsExactly(3L, 10L, 10L, 3L);
        assertThat(cut.get(1).rows()).containsExactly(2L, 4L, 4L);
        assertThat(bytes(cut.get(1).array())).isEqualTo(longs(0, 4, 7));
        assertThat(cut.get(1).whole())
                .isNotNull()
                .extracting(ShardRecord.Whole::shape)
                .isEqualTo(List.of(5L));
    }

    @Test
    void ofTwoRowsOnThreeNodesTheLastHasOneThatIsNotItsOwn() throws IOException {
        List<CutArray> cut = cut(column(5, 0, 2, 5), 2, 3);

        assertThat(cut.get(0).rows()).containsExactly(2L, 5L, 5L, 5L);
        assertThat(bytes(cut.get(0).array())).hasSize(3);
        assertThat(bytes(cut.get(1).array())).isEqualTo(longs(0, 3));
    }

    @Test
    void aColumnWithoutRowsIsOneOnEachNode() throws IOException {
        List<CutArray> cut = cut(column(0, 0), 1, 2);

        assertThat(cut.get(0).rows()).containsExactly(0L, 0L, 0L, 0L);
        assertThat(bytes(cut.get(1).array())).isEqualTo(longs(0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1,2,10", "0,4,3,10", "0,4,9", "0,11", "0,4,-1"})
    void offsetsThatLeadElsewhereAreRefused(String text) {
        long[] offsets =
                Arrays.stream(text.split(",", -1)).mapToLong(Long::parseLong).toArray();

        assertThatThrownBy(() -> cut(column(10, offsets), 0, 2))
                .hasMessageContaining("offsets of its rows are out of order: array=d/c/offsets");
    }

    @Test
    void whatCannotBeCutIsRefusedByName() {
        SourceArray fortran = array(ColumnPart.NONE, Order.F, "|u1", new byte[6], 2, 3);
        SourceArray items = column(10, 0, 10).get(0).withPartitioning(Partitioning.IMPOSSIBLE);

        assertThatThrownBy(() -> cut(List.of(fortran), 0, 2))
                .hasMessageContaining("an array cannot be cut into shards: array=d/c file=/source")
                .hasMessageContaining("Fortran order");
        assertThatThrownBy(() -> cut(List.of(items), 0, 2))
                .hasMessageContaining("the items of its lists lie apart from its rows");
        assertThatThrownBy(() -> cut(column(10, 0, 10).subList(0, 1), 0, 2))
                .hasMessageContaining("its column has no offsets");
    }

    @Test
    void whatIsReplicatedStaysAsItIs() {
        List<SourceArray> classes = column(3, 0, 1, 3).stream()
                .map(array -> array.withPartitioning(Partitioning.REPLICATED))
                .toList();

        assertThat(cut(classes, 1, 2)).extracting(CutArray::array).isEqualTo(classes);
        assertThat(cut(classes, 1, 2)).allMatch(cut -> cut.rows().isEmpty() && cut.whole() == null);
    }
}
