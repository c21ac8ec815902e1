package dev.larder.server.source.shard;

import dev.larder.server.source.SourceArray;
import dev.larder.server.store.version.ShardRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of an array that a node has.
 *
 * @param array the part; all of the array if {@code rows} is empty and {@code whole} is null
 * @param rows the first row of the part, the row behind its last, and the number of rows of the array. Values of a column have a fourth number,
 *     because rows of different lengths may begin anywhere: the first value that no earlier node has
 * @param whole the whole array if its parts are not pieces of it, else null
 */
record CutArray(SourceArray array, List<Long> rows, ShardRecord.@Nullable Whole whole) {
    /** Copies the list. */
    CutArray {
        rows = List.copyOf(rows);
    }

    /** Returns all of an array, for each node. */
    static CutArray replicated(SourceArray array) {
        return new CutArray(array, List.of(), null);
    }
}
