package dev.larder.readers.zarr;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names the files of chunks.
 *
 * @param first the first part of each key, such as {@code c}; empty for none
 * @param separator what is between the numbers
 */
record ChunkKeys(String first, String separator) {
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    /** Returns the place of a chunk in the grid by its key; null if that is no key. */
    long @Nullable [] place(String key, int dimensions) {
        long[] place = new long[dimensions];
        int start = first.isEmpty() ? 0 : first.length() + separator.length();
        for (int axis = 0; axis < dimensions && start <= key.length(); axis++) {
            int end = key.indexOf(separator, start);
            end = end < 0 ? key.length() : end;
            String number = key.substring(start, end);
            if (!NUMBER.matcher(number).matches()) {
                return null;
            }
            place[axis] = Long.parseLong(number);
            start = end + separator.length();
        }
        return of(place).equals(key) ? place : null;
    }

    /** Returns the key of a chunk by its place in the grid. */
    String of(long[] place) {
        StringBuilder key = new StringBuilder(first);
        for (long number : place) {
            if (key.length() > 0) {
                key.append(separator);
            }
            key.append(number);
        }
        return key.length() == 0 ? "0" : key.toString();
    }
}
