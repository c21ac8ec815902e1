package dev.larder.server;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Whom a store is open to besides its owner.
 *
 * @param group the group whose members may read, wait and load; empty: nobody
 * @param quota how many bytes the members may load, all together; empty: half of the capacity
 */
public record Sharing(Optional<String> group, OptionalLong quota) {
    /** Keeps the store to its owner. */
    public static final Sharing NONE = new Sharing(Optional.empty(), OptionalLong.empty());

    long quotaBytes(long capacityBytes) {
        return quota.orElse(capacityBytes / 2);
    }
}
