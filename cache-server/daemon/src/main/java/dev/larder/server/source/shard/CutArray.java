package dev.larder.server.source.shard;

import dev.larder.server.source.SourceArray;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a node has of an array.
 *
 * @param array its part, which is all of it where {@code rows} is empty and {@code whole} is null
 * @param rows the first row of the part, the one behind its last, and how many rows the array has; of the values of a column also the first
 *     that no node before has, as there rows of the column begin at any value
 * @param whole what all of the array is like, where the parts do not make it up; else null
 */
public record CutArray(
        SourceArray array, List<Long> rows, @Nullable WholeArray whole) {
    /** Copies the list. */
    public CutArray {
        rows = List.copyOf(rows);
    }

    /** Makes one that each node has all of. */
    static CutArray replicated(SourceArray array) {
        return new CutArray(array, List.of(), null);
    }
}
