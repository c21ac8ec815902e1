package dev.larder.readers.zarr;

import dev.larder.reader.BadSource;
import org.jspecify.annotations.Nullable;

/**
 * The file and the array that a failure is about.
 *
 * @param file its number in the request
 * @param array the name of the array; empty for a group
 */
record Place(int file, String array) {
    /** Returns the refusal of an array that may be whole. */
    BadSource unfit(String reason) {
        return new BadSource(file, BadSource.NOWHERE, array, reason, "");
    }

    /** Returns the refusal of a damaged array. */
    BadSource damaged(String reason) {
        return BadSource.damaged(file, BadSource.NOWHERE, array, reason);
    }

    /** Returns the refusal of a file that cannot be opened or read. */
    BadSource unreadable(@Nullable Throwable cause) {
        return BadSource.unreadable(file, array, cause);
    }

    /** Returns the same array in another file. */
    Place in(int otherFile) {
        return new Place(otherFile, array);
    }
}
