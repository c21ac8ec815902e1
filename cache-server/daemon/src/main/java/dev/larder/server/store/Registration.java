package dev.larder.server.store;

import dev.larder.protocol.LoadRequest;
import dev.larder.protocol.Retention;
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
 */
public record Registration(String dataset, long version, String digest, long dataBytes, Provenance provenance) {
    /** Remembers a version that leaves. */
    public static Registration of(PublishedVersion version) {
        return new Registration(
                version.dataset(), version.version(), version.digest(), version.dataBytes(), version.provenance());
    }

    /** Notes a source that nobody has loaded yet. */
    public static Registration ofSource(String dataset, Provenance provenance) {
        return new Registration(dataset, 0, "", 0, provenance);
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
        Retention retention = new Retention(false, Duration.ofMillis(provenance.ttlMs()));
        return new LoadRequest(sources, provenance.options(), 0).withRetention(retention);
    }
}
