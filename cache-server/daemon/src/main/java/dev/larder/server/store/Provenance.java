package dev.larder.server.store;

import dev.larder.protocol.LoadOptions;
import java.util.List;

/**
 * Says where a version came from, so that it can be loaded again, and so that one can tell whether it would come out the same.
 *
 * @param origins the paths that the load was asked for; empty for what was computed
 * @param options how they were read and kept
 * @param sources every file that was read
 */
public record Provenance(List<String> origins, LoadOptions options, List<SourceRecord> sources) {
    /** Copies the lists. */
    public Provenance {
        origins = List.copyOf(origins);
        sources = List.copyOf(sources);
    }

    /** Returns what holds for a version that was computed. */
    public static Provenance computed() {
        return new Provenance(List.of(), LoadOptions.none(), List.of());
    }
}
