package dev.larder.server.catalog;

import java.util.List;

/**
 * What is remembered of one version.
 *
 * @param digest in hex
 * @param lastUseEpochMs when somebody was last seen to lease it
 */
public record CatalogEntry(
        String dataset,
        long version,
        String digest,
        long bytes,
        long arrayCount,
        List<Source> sources,
        long createdEpochMs,
        long lastUseEpochMs) {

    /** Copies the list. */
    public CatalogEntry {
        sources = List.copyOf(sources);
    }

    /** Where a version came from, and what that looked like then; a computed version has none. */
    public record Source(String path, String fingerprint) {}

    /** Returns the same with another time of last use. */
    public CatalogEntry usedAt(long epochMs) {
        return new CatalogEntry(dataset, version, digest, bytes, arrayCount, sources, createdEpochMs, epochMs);
    }
}
