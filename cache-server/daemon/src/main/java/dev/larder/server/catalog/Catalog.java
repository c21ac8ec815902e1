package dev.larder.server.catalog;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The daemon's index of versions: one entry each, kept over a restart. Only the holder of the store's lock opens it. Any
 * thread may use it.
 */
public interface Catalog extends AutoCloseable {

    /**
     * Opens the catalog of a store. After an unclean stop, or if the file does not open, it is deleted and created anew.
     *
     * @param cleanStop whether the last daemon closed its catalog
     */
    static Catalog open(Path file, boolean cleanStop) {
        return ChronicleCatalog.open(file, cleanStop);
    }

    /** Loads the code that the first catalog of a JVM would wait for. */
    static void prepare() {
        ChronicleCatalog.prepare();
    }

    /** Adds an entry, or replaces the one of the same dataset and version. */
    void put(CatalogEntry entry);

    /** Finds the entry of a version. */
    Optional<CatalogEntry> find(String dataset, long version);

    /** Removes the entry of a version; false where there is none. */
    boolean remove(String dataset, long version);

    /** Returns all entries as they are now, in no particular order. */
    List<CatalogEntry> entries();

    /** Notes that a version is in use; false where there is no entry. */
    boolean touch(String dataset, long version, long epochMs);

    /** Writes everything back and closes the file. Later calls fail. */
    @Override
    void close();
}
