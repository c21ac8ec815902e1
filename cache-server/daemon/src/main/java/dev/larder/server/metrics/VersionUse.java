package dev.larder.server.metrics;

import java.util.List;

/**
 * How a version was used at one moment.
 *
 * @param storedBytes what it occupies
 * @param isRetired whether only its readers still see it
 * @param isLeased whether anybody leases it, also where this pid namespace cannot tell who
 * @param pids who leases it, as far as is known
 */
public record VersionUse(
        String dataset,
        long version,
        long storedBytes,
        boolean isRetired,
        boolean isPinned,
        boolean isLeased,
        List<Long> pids) {
    public VersionUse {
        pids = List.copyOf(pids);
    }
}
