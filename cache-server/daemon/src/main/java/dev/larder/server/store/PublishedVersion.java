package dev.larder.server.store;

import dev.larder.layout.ArrayEntry;
import java.nio.file.Path;
import java.util.List;

/**
 * A version that readers can open.
 *
 * @param dataset its dataset
 * @param version its number
 * @param folder where it lies
 * @param digest what identifies its contents, in hex
 * @param publishedEpochMs when it became visible
 * @param storedBytes what its segments occupy
 * @param arrays every array, sorted by name
 * @param origins the paths that the load was asked for; empty for what was computed
 * @param sources the file of each array
 */
public record PublishedVersion(
        String dataset,
        long version,
        Path folder,
        String digest,
        long publishedEpochMs,
        long storedBytes,
        List<ArrayEntry> arrays,
        List<String> origins,
        List<SourceRecord> sources) {
    public PublishedVersion {
        arrays = List.copyOf(arrays);
        origins = List.copyOf(origins);
        sources = List.copyOf(sources);
    }

    /** Returns the length of all data together. */
    public long dataBytes() {
        return arrays.stream().mapToLong(ArrayEntry::byteSize).sum();
    }
}
