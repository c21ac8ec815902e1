package dev.larder.reader;

/**
 * An object of a place, as it was when it was listed.
 *
 * @param address the address for its reader
 * @param name its path below the place, or its own name if the user named the object
 * @param isAlone whether the user named the object
 * @param modifiedNanos the time of its last write, in nanoseconds since the epoch; 0 if that is unknown
 * @param tag a text that changes with the object, such as an ETag; empty if there is none
 * @param hasRanges whether it can be read from any byte on
 */
public record PlaceObject(
        String address,
        String name,
        boolean isAlone,
        long byteSize,
        long modifiedNanos,
        String tag,
        boolean hasRanges) {}
