package dev.larder.reader;

/**
 * An object of a place, as it was when it was listed.
 *
 * @param address what its reader finds it by
 * @param name its path below the place, or what it is called where it was named itself
 * @param isAlone whether it was named itself
 * @param byteSize how long it is
 * @param modifiedNanos when it was last written, in nanoseconds since the epoch; 0 where nobody says so
 * @param tag what changes whenever it does, such as an ETag; empty where there is none
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
