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
import dev.larder.server.store.version.ShardRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Cuts the arrays of sources down to the rows of a shard, and records which rows these are. Cuts arrays and columns with equally many rows alike, so
 * that the parts of a sample are on the same node.
 */
public final class ShardCut {
    private final @Nullable ShardRows shard;
    private final ColumnMemory memory;
    private final Map<String, CutArray> cuts = new HashMap<>();

    /**
     * Cuts down to a shard; null keeps all rows.
     *
     * @param memory the memory for new indexes; it lives until the arrays have been released
     */
    public ShardCut(@Nullable ShardRows shard, ColumnMemory memory) {
        this.shard = shard;
        this.memory = memory;
    }

    /**
     * Returns the parts of arrays that a node has. They own the data of the whole arrays from now on; after a failure, the caller still does.
     *
     * @throws LarderException BAD_INPUT if an array cannot be cut, or if offsets of rows are out of order
     */
    public List<SourceArray> cut(List<SourceArray> arrays) {
        if (shard == null) {
            return arrays;
        }
        List<CutArray> cut = of(arrays, shard);
        cut.forEach(each -> cuts.put(each.array().name().toString(), each));
        return cut.stream().map(CutArray::array).toList();
    }

    /** Returns which rows some arrays have; null if they have all. */
    public @Nullable ShardRecord record(List<SourceArray> arrays) {
        if (shard == null) {
            return null;
        }
        Map<String, List<Long>> rows = new HashMap<>();
        Map<String, ShardRecord.Whole> wholes = new HashMap<>();
        for (SourceArray array : arrays) {
            CutArray cut = cuts.get(array.name().toString());
            if (cut != null && !cut.rows().isEmpty()) {
                rows.put(array.name().array(), cut.rows());
            }
            ShardRecord.Whole whole = cut == null ? null : cut.whole();
            if (whole != null) {
                wholes.put(array.name().array(), whole);
            }
        }
        return new ShardRecord("", shard.index(), shard.count(), rows, wholes);
    }

    List<CutArray> of(List<SourceArray> arrays, ShardRows rows) {
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
            columns.values().forEach(parts -> cut.addAll(column(parts, rows)));
            return cut;
        } catch (RuntimeException | Error e) {
            cut.forEach(each -> each.array().release());
            throw e;
        }
    }

    private List<CutArray> column(List<SourceArray> parts, ShardRows rows) {
        SourceArray first = parts.get(0);
        if (first.partitioning() == Partitioning.REPLICATED) {
            return parts.stream().map(CutArray::replicated).toList();
        }
        return switch (first.part().kind()) {
            case "" -> List.of(plain(first, rows));
            case "index" -> ShardIndex.of(parts, rows, memory);
            default -> ShardColumn.of(parts, rows);
        };
    }

    /** Returns the rows of an array; all of it if it has no dimensions. */
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
                array.data().cut(first * rowBytes, shape[0] * rowBytes));
        return new CutArray(cut, List.of(first, first + shape[0], total), null);
    }

    private static void requireRows(SourceArray array) {
        if (array.partitioning() == Partitioning.IMPOSSIBLE) {
            throw refusal(array, "the items of its lists lie apart from its rows")
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
