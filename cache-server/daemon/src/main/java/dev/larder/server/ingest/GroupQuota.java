package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.version.PublishedVersion;

/** How much the members of the group may put into the store, all together: what they have published and what is on its way. Thread-safe. */
public final class GroupQuota {
    private final Residency residency;
    private final long quotaBytes;
    private long reservedBytes;

    /** Lets members put in {@code quotaBytes} at most. */
    public GroupQuota(Residency residency, long quotaBytes) {
        this.residency = residency;
        this.quotaBytes = quotaBytes;
    }

    /** Sets a share aside for an upload, or refuses what is too much. */
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

    /** Gives back what was set aside; what was published of it counts as such. */
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
