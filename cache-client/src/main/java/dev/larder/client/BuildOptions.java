package dev.larder.client;

import java.time.Duration;

/**
 * What a build asks of the store.
 *
 * @param bytes how much space is set aside at once, so that what does not fit is refused before it is written; 0 where it is unknown
 * @param pinned whether the version stays until it is unpinned
 * @param ttl it leaves when nobody has used it for so long; zero means that time alone does not remove it
 */
public record BuildOptions(long bytes, boolean pinned, Duration ttl) {
    /** Space is asked for with each array, and the version is resident as long as there is room. */
    public static final BuildOptions NONE = new BuildOptions(0, false, Duration.ZERO);

    /** Refuses negative numbers and times. */
    public BuildOptions {
        if (bytes < 0 || ttl.isNegative()) {
            throw new IllegalArgumentException("bytes=" + bytes + " ttl=" + ttl);
        }
    }

    /** Returns these options with so much space set aside. */
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
