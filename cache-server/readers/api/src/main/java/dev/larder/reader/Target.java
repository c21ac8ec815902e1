package dev.larder.reader;

import dev.larder.message.OptionalField;
import java.nio.file.Path;

/**
 * A file that the daemon has made for an array, at its full length.
 *
 * @param offer the number of the offer
 * @param path where it lies
 * @param offset where in it the array's bytes begin
 * @param byteSize how long they are
 * @param start how much of an object comes before them: its bytes lie as far behind the offset; 0 for arrays
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
