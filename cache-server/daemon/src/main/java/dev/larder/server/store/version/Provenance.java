package dev.larder.server.store.version;

import dev.larder.internal.protocol.LoadOptions;
import java.util.List;
import java.util.Objects;

/**
 * Says where a version came from, so that it can be loaded again, and so that one can tell whether it would come out the same.
 *
 * @param origins the paths that the load was asked for; empty for what was computed
 * @param options how they were read and kept
 * @param sources every file that was read
 * @param ttlMs it leaves when nobody has used it for so long; 0 where time alone does not remove it
 * @param publisher who had it published
 */
public record Provenance(
        List<String> origins, LoadOptions options, List<SourceRecord> sources, long ttlMs, Publisher publisher) {
    /** Copies the lists; a manifest that names no publisher is the owner's. */
    public Provenance {
        origins = List.copyOf(origins);
        sources = List.copyOf(sources);
        publisher = Objects.requireNonNullElse(publisher, Publisher.OWNER);
    }

    /** Says where the owner of the store had a version loaded from. */
    public Provenance(List<String> origins, LoadOptions options, List<SourceRecord> sources, long ttlMs) {
        this(origins, options, sources, ttlMs, Publisher.OWNER);
    }

    /** Returns the same, published by somebody else. */
    public Provenance withPublisher(Publisher other) {
        return new Provenance(origins, options, sources, ttlMs, other);
    }

    /** Returns what holds for a version that was computed. */
    public static Provenance computed(long ttlMs) {
        return new Provenance(List.of(), LoadOptions.none(), List.of(), ttlMs);
    }

    /** Returns the same with another time to live. */
    public Provenance withTtlMs(long otherMs) {
        return new Provenance(origins, options, sources, otherMs, publisher);
    }
}
