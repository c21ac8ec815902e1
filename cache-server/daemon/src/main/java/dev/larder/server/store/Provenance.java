package dev.larder.server.store;

import dev.larder.protocol.LoadOptions;
import java.util.List;
import java.util.Objects;

/**
 * Says where a version came from, so that it can be loaded again, and so that one can tell whether it would come out the same.
 *
 * @param origins the paths that the load was asked for; empty for what was computed
 * @param options how they were read and kept
 * @param sources every file that was read
 * @param publisher who had it published
 */
public record Provenance(List<String> origins, LoadOptions options, List<SourceRecord> sources, Publisher publisher) {
    /** Copies the lists; a manifest that names no publisher is the owner's. */
    public Provenance {
        origins = List.copyOf(origins);
        sources = List.copyOf(sources);
        publisher = Objects.requireNonNullElse(publisher, Publisher.OWNER);
    }

    /** Says where the owner of the store had a version loaded from. */
    public Provenance(List<String> origins, LoadOptions options, List<SourceRecord> sources) {
        this(origins, options, sources, Publisher.OWNER);
    }

    /** Returns the same, published by somebody else. */
    public Provenance withPublisher(Publisher other) {
        return new Provenance(origins, options, sources, other);
    }

    /** Returns what holds for a version that was computed. */
    public static Provenance computed() {
        return new Provenance(List.of(), LoadOptions.none(), List.of());
    }
}
