package dev.larder.server.ingest;

import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.layout.ShardRows;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.shard.CutArray;
import dev.larder.server.source.shard.ShardCut;
import dev.larder.server.source.shard.WholeArray;
import dev.larder.server.store.version.ShardRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Cuts arrays to the rows of a shard, if one is requested, and records these rows. */
final class Shards {
    private final @Nullable ShardRows shard;
    private final ColumnMemory memory;
    private final Map<String, CutArray> cuts = new HashMap<>();

    Shards(@Nullable ShardRows shard, ColumnMemory memory) {
        this.shard = shard;
        this.memory = memory;
    }

    /** Returns the shard's part of the arrays of a source, or these arrays if no shard is requested. */
    List<SourceArray> cut(List<SourceArray> arrays) {
        if (shard == null) {
            return arrays;
        }
        List<CutArray> cut = new ShardCut(shard, memory).of(arrays);
        cut.forEach(each -> cuts.put(each.array().name().toString(), each));
        return cut.stream().map(CutArray::array).toList();
    }

    /** Returns the record of a dataset's shard; null if the arrays are whole. */
    @Nullable
    ShardRecord record(List<SourceArray> arrays) {
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
            WholeArray whole = cut == null ? null : cut.whole();
            if (whole != null) {
                wholes.put(array.name().array(), ShardRecord.Whole.of(whole.shape(), whole.crc32c()));
            }
        }
        return new ShardRecord("", shard.index(), shard.count(), rows, wholes);
    }
}
