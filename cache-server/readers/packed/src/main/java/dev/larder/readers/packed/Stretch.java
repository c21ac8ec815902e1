package dev.larder.readers.packed;

import java.io.IOException;
import java.util.Locale;

/**
 * An independently packed part of a file.
 *
 * @param file the number of the file in the request
 * @param offset its first byte in the file
 * @param packedBytes its length in the file
 * @param bytes its unpacked length
 * @param place the position of its bytes in the array of the file
 */
record Stretch(int file, Codec codec, long offset, long packedBytes, long bytes, long place) {
    private static final int FIELDS = 5;

    /** Parses {@code FILE:CODEC:OFFSET:PACKED:BYTES}, as the daemon sends it. */
    static Stretch of(String words, long place) throws IOException {
        String[] fields = words.split(":", -1);
        try {
            if (fields.length == FIELDS) {
                Stretch stretch = new Stretch(
                        Integer.parseInt(fields[0]),
                        Codec.valueOf(fields[1].toUpperCase(Locale.ROOT)),
                        Long.parseLong(fields[2]),
                        Long.parseLong(fields[3]),
                        Long.parseLong(fields[4]),
                        place);
                if (stretch.offset >= 0 && stretch.packedBytes >= 0 && stretch.bytes >= 0) {
                    return stretch;
                }
            }
        } catch (IllegalArgumentException e) {
            throw new IOException("bad stretch: " + words, e);
        }
        throw new IOException("bad stretch: " + words);
    }
}
