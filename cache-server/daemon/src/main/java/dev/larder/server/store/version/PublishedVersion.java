package dev.larder.server.store.version;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.NearNames;
import dev.larder.internal.layout.StoreLayout;
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
 * @param provenance where it came from
 */
public record PublishedVersion(
        String dataset,
        long version,
        Path folder,
        String digest,
        long publishedEpochMs,
        long storedBytes,
        List<ArrayEntry> arrays,
        Provenance provenance) {
    public PublishedVersion {
        arrays = List.copyOf(arrays);
    }

    /** Tells whether nothing was copied, so that its arrays are read where their sources lie. */
    public boolean isInPlace() {
        return provenance.options().inPlace();
    }

    /** Returns the paths that the load was asked for; empty for what was computed. */
    public List<String> origins() {
        return provenance.origins();
    }

    /** Tells whether it can be loaded again once it has left. */
    public boolean isSourced() {
        return !provenance.origins().isEmpty();
    }

    /** Returns the files of each array. */
    public List<SourceRecord> sources() {
        return provenance.sources();
    }

    /** Tells whether it has an array of this name. */
    public boolean has(String array) {
        return arrays.stream().anyMatch(entry -> entry.name().equals(array));
    }

    /** Returns the refusal of an array that it has not. */
    public LarderException noSuchArray(String array) {
        return NearNames.noSuchArray(StoreLayout.storeOf(folder), dataset, version, array, arrays);
    }

    /** Returns the same, from somewhere else. */
    public PublishedVersion withProvenance(Provenance other) {
        return new PublishedVersion(dataset, version, folder, digest, publishedEpochMs, storedBytes, arrays, other);
    }

    /** Returns the same, in another folder. */
    public PublishedVersion at(Path other) {
        return new PublishedVersion(dataset, version, other, digest, publishedEpochMs, storedBytes, arrays, provenance);
    }

    /**
     * Tells whether the other is the same version of the same dataset, whatever else is known of it. One that left and came back
     * under its old number is another.
     */
    public boolean isSameAs(PublishedVersion other) {
        return version == other.version && publishedEpochMs == other.publishedEpochMs && dataset.equals(other.dataset);
    }

    /** Returns the length of all data together. */
    public long dataBytes() {
        return arrays.stream().mapToLong(ArrayEntry::byteSize).sum();
    }
}
