package dev.larder.readers.zarr;

import java.util.regex.Pattern;

/**
 * Names the files of chunks.
 *
 * @param first the first part of each key, such as {@code c}; empty for none
 * @param separator what is between the numbers
 */
record ChunkKeys(String first, String separator) {
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    /** Returns the place of a chunk of an array with one dimension by its key; -1 if that is no key. */
    long place(String key) {
        String number = key.substring(Math.min(key.length(), first.isEmpty() ? 0 : first.length() + 1));
        if (!NUMBER.matcher(number).matches()) {
            return -1;
        }
        long place = Long.parseLong(number);
        return of(new long[] {place}).equals(key) ? place : -1;
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
