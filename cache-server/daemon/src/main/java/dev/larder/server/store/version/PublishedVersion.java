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
 * @param folder its folder in the store
 * @param digest identifies its contents, in hex
 * @param publishedEpochMs when it became visible
 * @param storedBytes the space that its segments occupy
 * @param arrays every array, sorted by name
 * @param provenance its sources
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

    /** Returns whether its arrays are read directly from the source files, without a copy. */
    public boolean isInPlace() {
        return provenance.options().inPlace();
    }

    /** Returns the paths that the load named; empty for computed data. */
    public List<String> origins() {
        return provenance.origins();
    }

    /** Returns whether it can be loaded again after it was evicted. */
    public boolean isSourced() {
        return !provenance.origins().isEmpty();
    }

    /** Returns the files of each array. */
    public List<SourceRecord> sources() {
        return provenance.sources();
    }

    /** Returns whether it has an array of this name. */
    public boolean has(String array) {
        return arrays.stream().anyMatch(entry -> entry.name().equals(array));
    }

    /** Returns the error for an array that it does not have. */
    public LarderException noSuchArray(String array) {
        return NearNames.noSuchArray(StoreLayout.storeOf(folder), dataset, version, array, arrays);
    }

    /** Returns a copy with another provenance. */
    public PublishedVersion withProvenance(Provenance other) {
        return new PublishedVersion(dataset, version, folder, digest, publishedEpochMs, storedBytes, arrays, other);
    }

    /** Returns a copy in another folder. */
    public PublishedVersion at(Path other) {
        return new PublishedVersion(dataset, version, other, digest, publishedEpochMs, storedBytes, arrays, provenance);
    }

    /**
     * Returns whether both are the same version of the same dataset. A version that was evicted and loaded again under its old number is a
     * different one.
     */
    public boolean isSameAs(PublishedVersion other) {
        return version == other.version && publishedEpochMs == other.publishedEpochMs && dataset.equals(other.dataset);
    }

    /** Returns the length of all arrays together, in bytes. */
    public long dataBytes() {
        return arrays.stream().mapToLong(ArrayEntry::byteSize).sum();
    }
}
