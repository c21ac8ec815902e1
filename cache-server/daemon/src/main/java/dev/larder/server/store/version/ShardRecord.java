package dev.larder.server.store.version;

import dev.larder.internal.layout.ShardFile;
import dev.larder.internal.layout.ShardRows;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The part of a whole that a version holds.
 *
 * @param of the digest of the whole; empty until all nodes have agreed on it
 * @param index the number of the part, from 0
 * @param count how many parts there are
 * @param rows for each array that is cut: its first row here, the row after its last, and the number of rows of the whole. For the values
 *     of a column with a varying number of values a row, these count values
 * @param wholes arrays of the whole that this part does not hold a piece of, such as offsets, which start at 0 here
 */
public record ShardRecord(String of, int index, int count, Map<String, List<Long>> rows, Map<String, Whole> wholes) {
    /**
     * The description of an array of the whole that no part holds.
     *
     * @param crc32c checksum of all its bytes, in hexadecimal
     */
    public record Whole(List<Long> shape, String crc32c) {
        /** Describes an array. */
        public static Whole of(List<Long> shape, int crc32c) {
            return new Whole(shape, HexFormat.of().toHexDigits(crc32c));
        }
    }

    /** Copies the maps, sorted. Records written before columns could be cut have no wholes. */
    public ShardRecord {
        Objects.requireNonNull(of);
        rows = new TreeMap<>(rows);
        wholes = new TreeMap<>(Objects.requireNonNullElse(wholes, Map.of()));
    }

    /** Returns a copy that names the whole. */
    public ShardRecord withWhole(String digest) {
        return new ShardRecord(digest, index, count, rows, wholes);
    }

    /** Returns the form that readers get. */
    public ShardFile file() {
        return new ShardFile(new ShardRows(index, count), of);
    }

    /** Returns whether both are the same part; the digest of the whole is not compared. */
    public boolean isSameAs(ShardRecord other) {
        return index == other.index && count == other.count && rows.equals(other.rows) && wholes.equals(other.wholes);
    }
}
