package dev.larder.server;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * The users that may use a store besides its owner.
 *
 * @param group its members may read, wait and load; empty: none
 * @param quota how many bytes the members may load in total; empty: half of the capacity
 */
public record Sharing(Optional<String> group, OptionalLong quota) {
    /** Reserves the store to its owner. */
    public static final Sharing NONE = new Sharing(Optional.empty(), OptionalLong.empty());

    long quotaBytes(long capacityBytes) {
        return quota.orElse(capacityBytes / 2);
    }
}
