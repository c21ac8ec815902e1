package dev.larder.server.catalog;

import dev.larder.error.LarderException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The daemon's index of versions: one entry each, preserved across restarts if there is space for its file. Only the owner of the store's
 * lock opens it. Thread-safe.
 */
public interface Catalog extends AutoCloseable {

    /**
     * Opens the catalog of a store. After an unclean stop, or if the file does not open, it is deleted and created again. If that fails,
     * such as on a full mount, the catalog is in memory: without the file, only times of last use are lost.
     *
     * @param cleanStop whether the last daemon closed its catalog
     * @param onFailure receives the reason if the catalog is in memory
     */
    static Catalog open(Path file, boolean cleanStop, Consumer<Throwable> onFailure) {
        try {
            return ChronicleCatalog.open(file, cleanStop);
        } catch (LarderException e) {
            onFailure.accept(e);
            return inMemory();
        }
    }

    /** Returns an empty catalog that has no file. */
    static Catalog inMemory() {
        return new InMemoryCatalog();
    }

    /** Loads classes in advance, so that the first catalog of a JVM opens faster. */
    static void prepare() {
        ChronicleCatalog.prepare();
    }

    /** Adds an entry, or replaces the one of the same dataset and version. */
    void put(CatalogEntry entry);

    /** Finds the entry of a version. */
    Optional<CatalogEntry> find(String dataset, long version);

    /** Removes the entry of a version; returns false if there is none. */
    boolean remove(String dataset, long version);

    /** Returns all present entries, in no particular order. */
    List<CatalogEntry> entries();

    /** Records that a version is in use; returns false if there is no entry. */
    boolean touch(String dataset, long version, long epochMs);

    /** Writes everything back and closes the file. Later calls fail. */
    @Override
    void close();
}
