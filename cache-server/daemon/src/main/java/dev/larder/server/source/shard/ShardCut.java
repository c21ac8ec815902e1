package dev.larder.server.source.shard;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.ShardRows;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.Partitioning;
import dev.larder.server.source.SourceArray;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Cuts the arrays of a source down to the rows of a shard. Arrays and columns of equally many rows are cut alike, so that what belonged
 * together does so on each node.
 *
 * @param memory where indexes are made; lives until the arrays have been released
 */
public record ShardCut(ShardRows shard, ColumnMemory memory) {
    /**
     * Returns what a node has of each. They own the data of the whole from now on; where this fails, the caller still does.
     *
     * @throws LarderException BAD_INPUT for what cannot be cut, and where offsets of rows are out of order
     */
    public List<CutArray> of(List<SourceArray> arrays) {
        Map<String, List<SourceArray>> columns = new LinkedHashMap<>();
        for (SourceArray array : arrays) {
            requireRows(array);
            ColumnPart part = array.part();
            columns.computeIfAbsent(
                            part.kind() + ":" + part.columnName(array.name().toString()), key -> new ArrayList<>())
                    .add(array);
        }
        List<CutArray> cut = new ArrayList<>();
        try {
            columns.values().forEach(parts -> cut.addAll(column(parts)));
            return cut;
        } catch (RuntimeException | Error e) {
            cut.forEach(each -> each.array().release());
            throw e;
        }
    }

    private List<CutArray> column(List<SourceArray> parts) {
        SourceArray first = parts.get(0);
        if (first.partitioning() == Partitioning.REPLICATED) {
            return parts.stream().map(CutArray::replicated).toList();
        }
        return switch (first.part().kind()) {
            case "" -> List.of(plain(first, shard));
            case "index" -> ShardIndex.of(parts, shard, memory);
            default -> ShardColumn.of(parts, shard);
        };
    }

    /** Returns the rows of an array; all of one without dimensions. */
    static CutArray plain(SourceArray array, ShardRows shard) {
        long[] shape = array.shape();
        if (shape.length == 0) {
            return CutArray.replicated(array);
        }
        long total = shape[0];
        long rowBytes = total == 0 ? 0 : array.byteSize() / total;
        long first = shard.first(total);
        shape[0] = shard.rows(total);
        SourceArray cut = array.withData(
                NpyHeader.of(array.dtype(), array.order(), shape),
                ShardData.of(array.data(), first * rowBytes, shape[0] * rowBytes));
        return new CutArray(cut, List.of(first, first + shape[0], total), null);
    }

    private static void requireRows(SourceArray array) {
        if (array.partitioning() == Partitioning.IMPOSSIBLE) {
            throw refusal(array, "its lists have items that are no numbers, which lie apart from its rows")
                    .remedy("load this dataset as whole, or without that column");
        } else if (array.order() == Order.F && array.shape().length > 1) {
            throw refusal(array, "its rows do not follow each other (Fortran order)")
                    .remedy("save it in C order, numpy.ascontiguousarray(a), or load this dataset as whole");
        }
    }

    static Failure refusal(SourceArray array, String reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "an array cannot be cut into shards")
                .with("array", array.name())
                .with("file", array.file())
                .with("reason", reason);
    }
}
