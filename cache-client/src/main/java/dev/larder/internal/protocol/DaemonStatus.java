package dev.larder.internal.protocol;

import java.time.Duration;

/**
 * Totals of a store and its daemon.
 *
 * @param usedBytes blocks of the file system under all versions
 * @param hugePages the {@code huge=} word of the mount
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
        Duration uptime)
        implements Response {}
