package dev.larder.client;

import java.time.Duration;

/**
 * Options of a build.
 *
 * @param bytes number of bytes to reserve at the start, so that a dataset that does not fit is refused before it is written; 0
 *     if unknown
 * @param pinned whether the version stays until it is unpinned
 * @param ttl time after the last use when the version is removed; zero means never
 */
public record BuildOptions(long bytes, boolean pinned, Duration ttl) {
    /** Reserves space with each array, and keeps the version as long as there is room. */
    public static final BuildOptions NONE = new BuildOptions(0, false, Duration.ZERO);

    /** Refuses negative numbers and times. */
    public BuildOptions {
        if (bytes < 0 || ttl.isNegative()) {
            throw new IllegalArgumentException("bytes=" + bytes + " ttl=" + ttl);
        }
    }

    /** Returns these options with this number of bytes reserved. */
    public BuildOptions withBytes(long newBytes) {
        return new BuildOptions(newBytes, pinned, ttl);
    }

    /** Returns these options with the version pinned. */
    public BuildOptions withPin() {
        return new BuildOptions(bytes, true, ttl);
    }

    /** Returns these options with another time to live. */
    public BuildOptions withTtl(Duration newTtl) {
        return new BuildOptions(bytes, pinned, newTtl);
    }
}
