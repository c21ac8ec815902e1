package dev.larder.internal.protocol;

import java.time.Duration;

/**
 * How long a version is wanted in the store.
 *
 * @param pinned whether it stays until it is unpinned
 * @param ttl it leaves when nobody has used it for so long; zero means that time alone does not remove it
 */
public record Retention(boolean pinned, Duration ttl) {
    /** Resident as long as there is room. */
    public static final Retention NORMAL = new Retention(false, Duration.ZERO);

    /** Refuses a negative time. */
    public Retention {
        if (ttl.isNegative()) {
            throw new IllegalArgumentException("ttl=" + ttl);
        }
    }
}
