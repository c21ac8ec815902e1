package dev.larder.internal.layout;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rows of one shard of an array. All shards have equally many rows, so that all nodes make equally many steps. If the
 * number of shards does not divide the rows, the last shards overlap those before them.
 *
 * @param index the index of the shard, from 0
 * @param count the number of shards
 */
public record ShardRows(int index, int count) {
    private static final int MOST = 999_999;
    private static final Pattern TEXT = Pattern.compile("(\\d{1,6})/(\\d{1,6})");

    /** Refuses an index out of range. */
    public ShardRows {
        if (index < 0 || index >= count || count > MOST) {
            throw new IllegalArgumentException("shard=" + index + "/" + count);
        }
    }

    /** Reads {@code INDEX/COUNT}. Throws IllegalArgumentException for any other text. */
    public static ShardRows parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("shard=" + text);
        }
        return new ShardRows(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
    }

    /** Returns the text {@code INDEX/COUNT}. */
    public String text() {
        return index + "/" + count;
    }

    /** Returns the number of rows in each shard of an array with {@code total} rows. */
    public long rows(long total) {
        return total / count + (total % count == 0 ? 0 : 1);
    }

    /** Returns the first row of this shard. */
    public long first(long total) {
        return Math.min(index * rows(total), total - rows(total));
    }

    /**
     * Returns the first row that no earlier shard has. The rows from there to the end of this shard, over all shards, make up
     * the array.
     */
    public long firstOwn(long total) {
        return Math.min(index * rows(total), total);
    }
}
