package dev.larder.internal.protocol;

import java.time.Duration;

/**
 * Totals of a store and its daemon.
 *
 * @param usedBytes blocks of the file system under all versions
 * @param hugePages the {@code huge=} word of the mount
 * @param hugeBytes how much of all versions lies on huge pages, whatever that word is
 * @param hugeRefusedBytes for how much of them the kernel refused huge pages when it was last asked
 * @param statusPage the address of the status page, without its token; empty where none is served
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
        long hugeRefusedBytes,
        Duration uptime,
        String statusPage)
        implements Response {}
