package dev.larder.server.ingest;

import dev.larder.internal.layout.ShardRows;
import dev.larder.server.source.ShardData;
import dev.larder.server.source.SourceArray;
import dev.larder.server.store.version.ShardRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Cuts what is to be loaded down to the rows of a shard, and notes which they are. */
final class Shards {
    private Shards() {}

    /** Returns the rows of an array that a shard has, and puts how many the whole has among the totals. */
    static SourceArray cut(SourceArray array, ShardRows shard, Map<String, Long> totals) {
        SourceArray cut = ShardData.of(array, shard);
        if (array.shape().length > 0) {
            totals.put(array.name().toString(), array.shape()[0]);
        }
        return cut;
    }

    /** Returns what arrays of a dataset are a part of; null where they are whole. */
    static @Nullable ShardRecord record(List<SourceArray> arrays, @Nullable ShardRows shard, Map<String, Long> totals) {
        if (shard == null) {
            return null;
        }
        Map<String, List<Long>> rows = new HashMap<>();
        for (SourceArray array : arrays) {
            Long total = totals.get(array.name().toString());
            if (total != null) {
                long first = shard.first(total);
                rows.put(array.name().array(), List.of(first, first + shard.rows(total), total));
            }
        }
        return new ShardRecord("", shard.index(), shard.count(), rows);
    }
}
