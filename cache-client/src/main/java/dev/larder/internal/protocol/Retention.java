package dev.larder.internal.protocol;

import dev.larder.message.OptionalField;
import java.time.Duration;

/**
 * How long a version stays in the store.
 *
 * @param pinned whether it stays until it is unpinned
 * @param ttl it leaves after this time without use; zero means that time alone does not remove it
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
