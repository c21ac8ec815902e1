package dev.larder.readers.parquet;

import dev.larder.reader.InputFile;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A file in folders of partitions, as Hive names them: {@code year=2020/city=New%20York/}. All rows of the file have these values.
 *
 * @param file the file, with the level of its table: that above the folders
 * @param keys the columns, from the outer folder on
 * @param values one for each key; {@link #NULL} for null
 */
record Partition(InputFile file, List<String> keys, List<String> values) {
    static final String NULL = "__HIVE_DEFAULT_PARTITION__";

    /** Stands for bytes that are no UTF-8. */
    private static final char REPLACEMENT = '\uFFFD';

    /** Finds the partition of a file, without keys if its folder has none. */
    static Partition of(InputFile file) {
        String level = file.level();
        List<String> keys = new ArrayList<>();
        List<String> values = new ArrayList<>();
        while (level.endsWith("/")) {
            int start = level.lastIndexOf('/', level.length() - 2) + 1;
            String folder = level.substring(start, level.length() - 1);
            int sign = folder.indexOf('=');
            if (sign <= 0) {
                break;
            }
            keys.add(decoded(folder.substring(0, sign)));
            values.add(decoded(folder.substring(sign + 1)));
            level = level.substring(0, start);
        }
        Collections.reverse(keys);
        Collections.reverse(values);
        return new Partition(new InputFile(file.path(), level), List.copyOf(keys), List.copyOf(values));
    }

    private static String decoded(String text) {
        try {
            String decoded = URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
            return decoded.indexOf(REPLACEMENT) < 0 ? decoded : text;
        } catch (IllegalArgumentException e) { // as it is, like bytes that are no UTF-8: a % without a number
            return text;
        }
    }
}
