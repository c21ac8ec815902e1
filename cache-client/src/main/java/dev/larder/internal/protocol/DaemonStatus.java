package dev.larder.internal.protocol;

import java.time.Duration;

/**
 * Totals of a store and its daemon.
 *
 * @param usedBytes blocks of the file system under all versions
 * @param hugePages the {@code huge=} word of the mount
 * @param hugeBytes how much of all versions lies on huge pages, whatever that word is
 */
public record DaemonStatus(
        String store,
        long pid,
        String version,
        long capacityBytes,
        long usedBytes,
        long leasedBytes,
        long pinnedBytes,
        long retiredBytes,
        long arrays,
        long clients,
        String hugePages,
        long hugeBytes,
        Duration uptime)
        implements Response {}
