package dev.larder.server.source.scan;

import dev.larder.server.source.FileTable;
import org.jspecify.annotations.Nullable;

/** One way to make arrays of files: recognizes the files by their names, and finds the arrays in them. */
interface Format {
    /** Returns the kind of a file for people, such as {@code HDF5}; null if this format does not read files with this name. */
    @Nullable
    String kindOf(String fileName);

    /**
     * Returns whether a scan reads a file of this format, or one that describes others, as far as names show.
     *
     * @param path its path below the source
     * @param listing has the names of the other files
     */
    default boolean reads(String path, FileListing listing) {
        return kindOf(fileName(path)) != null;
    }

    /** Returns the files that this format makes arrays of. */
    default FileTable filesOf(FileListing listing) {
        return listing.files().only(path -> kindOf(fileName(path)) != null);
    }

    /** Returns the last part of a path below the source. */
    static String fileName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** Adds the arrays in some files, all of this format, to the findings; none of their data is read. */
    void look(FileTable files, Findings found);
}
