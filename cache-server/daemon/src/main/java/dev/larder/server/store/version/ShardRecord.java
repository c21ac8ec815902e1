package dev.larder.server.store.version;

import dev.larder.internal.layout.ShardFile;
import dev.larder.internal.layout.ShardRows;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Says of a version what it is a part of.
 *
 * @param of the digest of the whole; empty until all nodes have agreed on it
 * @param index which part it is, from 0
 * @param count how many parts there are
 * @param rows of each array that is cut, its first row here, the one behind its last, and how many the whole has
 */
public record ShardRecord(String of, int index, int count, Map<String, List<Long>> rows) {
    /** Copies the map, sorted. */
    public ShardRecord {
        Objects.requireNonNull(of);
        rows = new TreeMap<>(rows);
    }

    /** Returns the same, of a whole that is known. */
    public ShardRecord of(String digest) {
        return new ShardRecord(digest, index, count, rows);
    }

    /** Returns what readers are told. */
    public ShardFile file() {
        return new ShardFile(new ShardRows(index, count), of);
    }

    /** Tells whether the other is the same part, whatever is known of its whole. */
    public boolean isSameAs(ShardRecord other) {
        return index == other.index && count == other.count && rows.equals(other.rows);
    }
}
