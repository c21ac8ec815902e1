package dev.larder.server.metrics;

import java.util.List;

/**
 * The use of a version at one moment.
 *
 * @param storedBytes the space it occupies
 * @param isRetired whether it is visible only to its present readers
 * @param isLeased whether any process leases it, even one that this pid namespace does not show
 * @param pids the processes that lease it, as far as they are visible
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
