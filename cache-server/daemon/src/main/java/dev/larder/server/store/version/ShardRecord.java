package dev.larder.server.store.version;

import dev.larder.internal.layout.ShardFile;
import dev.larder.internal.layout.ShardRows;
import java.util.HexFormat;
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
 * @param rows of each array that is cut, its first row here, the one behind its last, and how many the whole has; of the values of a column,
 *     of which each row has any number, these are values, and the first follows that no part before has
 * @param wholes what the whole has where this part is no piece of that, such as offsets, which begin with 0 here
 */
public record ShardRecord(String of, int index, int count, Map<String, List<Long>> rows, Map<String, Whole> wholes) {
    /**
     * An array of the whole, which no part has.
     *
     * @param crc32c that of all its bytes, in hexadecimal
     */
    public record Whole(List<Long> shape, String crc32c) {
        /** Describes one. */
        public static Whole of(List<Long> shape, int crc32c) {
            return new Whole(shape, HexFormat.of().toHexDigits(crc32c));
        }
    }

    /** Copies the maps, sorted; what was recorded before columns could be cut has no wholes. */
    public ShardRecord {
        Objects.requireNonNull(of);
        rows = new TreeMap<>(rows);
        wholes = new TreeMap<>(Objects.requireNonNullElse(wholes, Map.of()));
    }

    /** Returns the same, of a whole that is known. */
    public ShardRecord of(String digest) {
        return new ShardRecord(digest, index, count, rows, wholes);
    }

    /** Returns what readers are told. */
    public ShardFile file() {
        return new ShardFile(new ShardRows(index, count), of);
    }

    /** Tells whether the other is the same part, whatever is known of its whole. */
    public boolean isSameAs(ShardRecord other) {
        return index == other.index && count == other.count && rows.equals(other.rows) && wholes.equals(other.wholes);
    }
}
