package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.version.PublishedVersion;

/** Limits the total size of published and unfinished uploads of the group's members. Thread-safe. */
public final class GroupQuota {
    private final Residency residency;
    private final long quotaBytes;
    private long reservedBytes;

    /** Allows members {@code quotaBytes} in total. */
    public GroupQuota(Residency residency, long quotaBytes) {
        this.residency = residency;
        this.quotaBytes = quotaBytes;
    }

    /** Reserves a share for an upload, or refuses it. */
    synchronized void reserve(long bytes) {
        long used = publishedBytes() + reservedBytes;
        if (bytes > quotaBytes - used) {
            throw Failure.of(ErrorCode.NO_SPACE, "the group's quota is not enough")
                    .with("quota", quotaBytes)
                    .with("used", used)
                    .with("needed", bytes)
                    .remedy(
                            "evict datasets of members that they can load again, or ask the owner to raise --group-quota");
        }
        reservedBytes += bytes;
    }

    /** Releases a share. Published data still counts. */
    synchronized void release(long bytes) {
        reservedBytes -= bytes;
    }

    private long publishedBytes() {
        return residency.all().stream()
                .filter(version -> version.provenance().publisher().isMember())
                .mapToLong(PublishedVersion::storedBytes)
                .sum();
    }
}
