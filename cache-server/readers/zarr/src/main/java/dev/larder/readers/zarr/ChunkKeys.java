package dev.larder.readers.zarr;

/**
 * Names the files of chunks.
 *
 * @param first the first part of each key, such as {@code c}; empty for none
 * @param separator what is between the numbers
 */
record ChunkKeys(String first, String separator) {
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
