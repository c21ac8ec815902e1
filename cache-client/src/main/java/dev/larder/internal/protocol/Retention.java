package dev.larder.internal.protocol;

import dev.larder.message.OptionalField;
import java.time.Duration;

/**
 * How long a version stays in the store.
 *
 * @param pinned whether it stays until it is unpinned
 * @param ttl time after the last use when it is removed; zero means never
 */
public record Retention(
        @OptionalField boolean pinned, @OptionalField Duration ttl) {
    /** Resident as long as there is room. */
    public static final Retention NORMAL = new Retention(false, Duration.ZERO);

    /** Refuses a negative time. */
    public Retention {
        if (ttl.isNegative()) {
            throw new IllegalArgumentException("ttl=" + ttl);
        }
    }
}
