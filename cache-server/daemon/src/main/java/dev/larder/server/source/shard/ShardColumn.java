package dev.larder.server.source.shard;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.ShardRows;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.SourceArray;
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
        ShardBounds bounds = ShardBounds.of(offsets, values, shard);
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

    private static CutArray values(SourceArray values, ShardBounds bounds) {
        long itemBytes = values.dtype().itemSize();
        long count = bounds.end() - bounds.first();
        SourceArray cut = values.withData(
                NpyHeader.of(values.dtype(), Order.C, count),
                ShardData.of(values.data(), bounds.first() * itemBytes, count * itemBytes));
        return new CutArray(cut, List.of(bounds.first(), bounds.end(), values.shape()[0], bounds.firstOwn()), null);
    }

    private CutArray offsets(SourceArray offsets, ShardBounds bounds) {
        long total = offsets.shape()[0] - 1;
        long first = shard.first(total);
        long rows = shard.rows(total);
        SourceArray cut = offsets.withData(
                NpyHeader.of(offsets.dtype(), Order.C, rows + 1),
                new RebasedOffsets(
                        ShardData.of(offsets.data(), first * Long.BYTES, (rows + 1) * Long.BYTES), bounds.first()));
        return new CutArray(cut, List.of(first, first + rows, total), WholeArray.of(offsets, bounds.crc32c()));
    }
}
