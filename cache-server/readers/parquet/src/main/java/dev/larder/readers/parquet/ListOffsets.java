package dev.larder.readers.parquet;

import dev.larder.reader.BadSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Compares the offsets that the columns below one list of items have. The array is made of those of one column; with other
 * offsets the items of another column would belong to other rows. Thread-safe.
 */
final class ListOffsets {
    private final Map<String, Long> hashes = new ConcurrentHashMap<>();

    /** Fails where another column of the same file and list has other offsets. */
    void require(int file, String column, String list, long hash) throws BadSource {
        Long other = hashes.putIfAbsent(file + "/" + list, hash);
        if (other != null && hash != other) {
            throw BadSource.damaged(
                    file,
                    BadSource.NOWHERE,
                    column,
                    "its lists " + list + " have other lengths than those of another field");
        }
    }
}
