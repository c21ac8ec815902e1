package dev.larder.server.store.version;

import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Retention;
import java.time.Duration;
import java.util.List;

/**
 * A dataset that is not resident but can be loaded.
 *
 * @param dataset its name
 * @param version the number of the evicted version; 0 if none was ever loaded
 * @param digest identifies the contents of the evicted version, in hex; empty if none was ever loaded
 * @param dataBytes the length of its data
 * @param provenance its sources
 * @param pinned whether it was lost while it was pinned, so that it is loaded and pinned again without a request
 */
public record Registration(
        String dataset, long version, String digest, long dataBytes, Provenance provenance, boolean pinned) {
    /** Describes a version that is evicted. */
    public static Registration of(PublishedVersion version) {
        return new Registration(
                version.dataset(),
                version.version(),
                version.digest(),
                version.dataBytes(),
                version.provenance(),
                false);
    }

    /** Describes a source that has not been loaded yet. */
    public static Registration ofSource(String dataset, Provenance provenance) {
        return new Registration(dataset, 0, "", 0, provenance, false);
    }

    /** Describes a damaged version. The version loaded in its place gets the next number, even if its contents are the same. */
    public static Registration ofLost(PublishedVersion version, boolean pinned) {
        return ofLost(version.dataset(), version.version(), version.provenance(), pinned);
    }

    /** Describes a damaged version if only its manifest could be read. */
    public static Registration ofLost(String dataset, long version, Provenance provenance, boolean pinned) {
        return new Registration(dataset, version, "", 0, provenance, pinned);
    }

    /** Returns whether these are the contents of the evicted version, which then gets its number back. */
    public boolean isOf(String otherDigest) {
        return version > 0 && digest.equals(otherDigest);
    }

    /** Returns a request that loads it as it was loaded before. */
    public LoadRequest request() {
        List<LoadRequest.Source> sources = provenance.origins().stream()
                .map(path -> new LoadRequest.Source(dataset, path))
                .toList();
        Retention retention = new Retention(pinned, Duration.ofMillis(provenance.ttlMs()));
        return new LoadRequest(sources, provenance.options(), 0).withRetention(retention);
    }
}
