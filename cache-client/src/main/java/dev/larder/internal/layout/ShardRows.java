package dev.larder.internal.layout;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which rows of an array a node has, where each of several has a part. All have equally many, so that they make equally many steps: where
 * the nodes do not divide the rows, the last ones have some that those before them have, too.
 *
 * @param index which of the shards, from 0
 * @param count how many there are
 */
public record ShardRows(int index, int count) {
    private static final int MOST = 999_999;
    private static final Pattern TEXT = Pattern.compile("(\\d{1,6})/(\\d{1,6})");

    /** Refuses what is none of the shards. */
    public ShardRows {
        if (index < 0 || index >= count || count > MOST) {
            throw new IllegalArgumentException("shard=" + index + "/" + count);
        }
    }

    /** Reads {@code INDEX/COUNT}; fails with an IllegalArgumentException where it is none. */
    public static ShardRows parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("shard=" + text);
        }
        return new ShardRows(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
    }

    /** Returns it as {@code INDEX/COUNT}. */
    public String text() {
        return index + "/" + count;
    }

    /** Returns how many rows each shard has, of so many. */
    public long rows(long total) {
        return total / count + (total % count == 0 ? 0 : 1);
    }

    /** Returns the first row of this shard. */
    public long first(long total) {
        return Math.min(index * rows(total), total - rows(total));
    }

    /** Returns the first row that no shard before has; what follows from there to the end of this shard makes up the whole, over all shards. */
    public long firstOwn(long total) {
        return Math.min(index * rows(total), total);
    }
}
