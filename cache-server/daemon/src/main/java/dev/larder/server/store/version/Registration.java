package dev.larder.server.store.version;

import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Retention;
import java.time.Duration;
import java.util.List;

/**
 * What is known of a dataset that is not resident but can be loaded: where it comes from, and what it last was.
 *
 * @param dataset its name
 * @param version the number of the version that was evicted; 0 where none was ever loaded
 * @param digest what identified its contents, in hex; empty where none was ever loaded
 * @param dataBytes the length of its data
 * @param provenance where it comes from
 * @param pinned whether it was lost while it was pinned, so that it is loaded and pinned again unasked
 */
public record Registration(
        String dataset, long version, String digest, long dataBytes, Provenance provenance, boolean pinned) {
    /** Remembers a version that leaves. */
    public static Registration of(PublishedVersion version) {
        return new Registration(
                version.dataset(),
                version.version(),
                version.digest(),
                version.dataBytes(),
                version.provenance(),
                false);
    }

    /** Notes a source that nobody has loaded yet. */
    public static Registration ofSource(String dataset, Provenance provenance) {
        return new Registration(dataset, 0, "", 0, provenance, false);
    }

    /** Remembers a version that is not whole any more: what is loaded in its place has the next number, whatever it holds. */
    public static Registration ofLost(PublishedVersion version, boolean pinned) {
        return ofLost(version.dataset(), version.version(), version.provenance(), pinned);
    }

    /** Remembers a version that is not whole any more and of which only its manifest could be read. */
    public static Registration ofLost(String dataset, long version, Provenance provenance, boolean pinned) {
        return new Registration(dataset, version, "", 0, provenance, pinned);
    }

    /** Tells whether these contents are those of the version that was evicted, which then has its number back. */
    public boolean isOf(String otherDigest) {
        return version > 0 && digest.equals(otherDigest);
    }

    /** Returns what loads it, in the way it was loaded. */
    public LoadRequest request() {
        List<LoadRequest.Source> sources = provenance.origins().stream()
                .map(path -> new LoadRequest.Source(dataset, path))
                .toList();
        Retention retention = new Retention(pinned, Duration.ofMillis(provenance.ttlMs()));
        return new LoadRequest(sources, provenance.options(), 0).withRetention(retention);
    }
}
