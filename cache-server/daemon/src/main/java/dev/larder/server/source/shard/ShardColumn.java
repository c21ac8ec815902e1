package dev.larder.server.source.shard;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.ShardRows;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.BlockChannel;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.List;

/** Cuts a column of texts, bytes or ragged rows: the values of its rows, and offsets that begin with 0 again. */
final class ShardColumn {
    private final List<SourceArray> parts;
    private final ShardRows shard;

    private ShardColumn(List<SourceArray> parts, ShardRows shard) {
        this.parts = parts;
        this.shard = shard;
    }

    static List<CutArray> of(List<SourceArray> parts, ShardRows shard) {
        return new ShardColumn(parts, shard).cut();
    }

    private List<CutArray> cut() {
        SourceArray offsets = part(ColumnPart.BYTES_OFFSETS);
        SourceArray values =
                part(parts.get(0).part().kind().equals("strings") ? ColumnPart.STRINGS_BYTES : ColumnPart.BYTES_VALUES);
        Bounds bounds = Bounds.of(offsets, values, shard);
        List<CutArray> cut = new ArrayList<>();
        cut.add(values(values, bounds));
        cut.add(offsets(offsets, bounds));
        for (SourceArray part : parts) {
            if (part.part() == ColumnPart.RAGGED_SHAPES) {
                cut.add(ShardCut.plain(part, shard));
            }
        }
        return cut;
    }

    private SourceArray part(ColumnPart like) {
        for (SourceArray part : parts) {
            if (part.part().suffix().equals(like.suffix())) {
                return part;
            }
        }
        throw ShardCut.refusal(parts.get(0), "its column has no " + like.suffix())
                .remedy("load all of the column, or this dataset as whole");
    }

    private static CutArray values(SourceArray values, Bounds bounds) {
        long itemBytes = values.dtype().itemSize();
        long count = bounds.end() - bounds.first();
        SourceArray cut = values.withData(
                NpyHeader.of(values.dtype(), Order.C, count),
                values.data().cut(bounds.first() * itemBytes, count * itemBytes));
        return new CutArray(cut, List.of(bounds.first(), bounds.end(), values.shape()[0], bounds.firstOwn()), null);
    }

    private CutArray offsets(SourceArray offsets, Bounds bounds) {
        long total = offsets.shape()[0] - 1;
        long first = shard.first(total);
        long rows = shard.rows(total);
        SourceArray cut = offsets.withData(
                NpyHeader.of(offsets.dtype(), Order.C, rows + 1),
                offsets.data()
                        .cut(first * Long.BYTES, (rows + 1) * Long.BYTES)
                        .changed(channel -> new Rebased(channel, bounds.first())));
        return new CutArray(cut, List.of(first, first + rows, total), WholeStream.whole(offsets, bounds.crc32c()));
    }

    /** Reads offsets, and counts them from the first. */
    private static final class Rebased extends BlockChannel {
        private static final int STEP_BYTES = 64 << 10;

        private final ReadableByteChannel offsets;
        private final long first;

        Rebased(ReadableByteChannel offsets, long first) {
            super(STEP_BYTES, offsets);
            this.offsets = offsets;
            this.first = first;
        }

        @Override
        protected void fill(ByteBuffer empty) throws IOException {
            int read = 0;
            while (read >= 0 && (empty.position() == 0 || empty.position() % Long.BYTES != 0)) {
                read = offsets.read(empty);
            }
            for (int at = 0; at < empty.position(); at += Long.BYTES) {
                empty.putLong(at, empty.getLong(at) - first);
            }
        }
    }

    /**
     * The range of the rows of a shard in the values of a column.
     *
     * @param first the first value of its rows
     * @param firstOwn the first value of those rows that no earlier node has
     * @param end the value behind the last
     * @param crc32c the checksum of the offsets of the whole column
     */
    private record Bounds(long first, long firstOwn, long end, int crc32c) {
        /** Reads the offsets of all rows, and checks that they are in order and lead to all values. */
        static Bounds of(SourceArray offsets, SourceArray values, ShardRows shard) {
            long[] shape = offsets.shape();
            if (!offsets.dtype().descr().equals("<i8")
                    || shape.length != 1
                    || shape[0] == 0
                    || values.shape().length != 1) {
                throw outOfOrder(offsets);
            }
            long total = shape[0] - 1;
            long firstRow = shard.first(total);
            long[] found = new long[3];
            try (WholeStream stream = new WholeStream(offsets)) {
                long previous = 0;
                for (long row = 0; row <= total; row++) {
                    long offset = stream.nextLong();
                    if (offset < previous || (row == 0 && offset != 0)) {
                        throw outOfOrder(offsets);
                    }
                    previous = offset;
                    found[0] = row == firstRow ? offset : found[0];
                    found[1] = row == shard.firstOwn(total) ? offset : found[1];
                    found[2] = row == firstRow + shard.rows(total) ? offset : found[2];
                }
                if (previous != values.shape()[0]) {
                    throw outOfOrder(offsets);
                }
                return new Bounds(found[0], found[1], found[2], stream.crc32c());
            }
        }

        private static RuntimeException outOfOrder(SourceArray offsets) {
            return Refusal.of(offsets.file(), 0, "offsets of its rows are out of order: array=" + offsets.name());
        }
    }
}
