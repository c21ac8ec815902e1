package dev.larder.internal.protocol;

import dev.larder.message.OptionalField;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Totals of a store and its daemon.
 *
 * @param usedBytes blocks of the file system that all versions use
 * @param reservedBytes space of loads and builds that are not published yet; 0 from earlier daemons
 * @param hugePages the {@code huge=} option of the mount
 * @param hugeBytes bytes of all versions on huge pages, whatever that option is
 * @param hugeRefusedBytes bytes for which the kernel refused huge pages at the last request
 * @param memoryPolicy its policy for memory nodes, such as {@code interleave:0-1}; null from earlier daemons
 * @param statusPage the address of the status page, without its token; empty if there is none
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
        @OptionalField long reservedBytes,
        long arrays,
        long clients,
        String hugePages,
        long hugeBytes,
        long hugeRefusedBytes,
        @OptionalField @Nullable String memoryPolicy,
        Duration uptime,
        String statusPage)
        implements Response {}
