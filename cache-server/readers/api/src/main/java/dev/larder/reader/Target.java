package dev.larder.reader;

import dev.larder.message.OptionalField;
import java.nio.file.Path;

/**
 * A file that the daemon has made for an array, at its full length.
 *
 * @param offer the number of the offer
 * @param offset the place of the array's bytes in the file
 * @param start how many bytes of an object come before them, and are left out between {@code offset} and the bytes; 0 for arrays
 */
public record Target(
        int offer,
        Path path,
        long offset,
        long byteSize,
        @OptionalField long start) {
    /** Takes all of an array or object. */
    public Target(int offer, Path path, long offset, long byteSize) {
        this(offer, path, offset, byteSize, 0);
    }
}
