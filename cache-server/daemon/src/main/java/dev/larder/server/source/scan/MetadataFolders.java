package dev.larder.server.source.scan;

import java.util.HashSet;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The folders of a listing that have metadata of Zarr: each is an array or a group. The topmost ones are one source each, with all files below
 * them.
 */
final class MetadataFolders {
    private static final Set<String> METADATA = Set.of("zarr.json", ".zarray", ".zgroup", ".zmetadata");
    private static final String ATTRIBUTES = ".zattrs";

    private final Set<String> folders = new HashSet<>();

    /** Returns whether a file with this name makes its folder one of these. */
    static boolean isMetadata(String fileName) {
        return METADATA.contains(fileName);
    }

    /** Returns whether a file with this name belongs to its folder, although the name may begin with a dot. */
    static boolean isPartOfOne(String fileName) {
        return isMetadata(fileName) || fileName.equals(ATTRIBUTES);
    }

    /** Notes a file of a folder; {@code level} is the path of that folder below the source, with a slash at its end, or empty. */
    void note(String level, String fileName) {
        if (isMetadata(fileName)) {
            folders.add(level);
        }
    }

    /** Returns whether a file, by its path below the source, is in one of these folders, or below. */
    boolean has(String path) {
        return !folders.isEmpty() && nearest(path) != null;
    }

    /**
     * Returns the beginning of the names of the arrays of a file: the path of the nearest folder above it that has metadata. The topmost such folder,
     * unless it is the source, counts without its suffix.
     */
    String level(String path, UnaryOperator<String> withoutSuffix) {
        String nearest = nearest(path);
        if (nearest == null) {
            throw new IllegalArgumentException("in no folder with metadata: path=" + path);
        }
        String top = nearest;
        for (String above = parent(top); above != null; above = parent(above)) {
            top = folders.contains(above) ? above : top;
        }
        if (top.isEmpty()) {
            return nearest;
        }
        String parent = String.valueOf(parent(top));
        String name = top.substring(parent.length(), top.length() - 1);
        return parent + withoutSuffix.apply(name) + "/" + nearest.substring(top.length());
    }

    private @Nullable String nearest(String path) {
        String folder = path.substring(0, path.lastIndexOf('/') + 1);
        for (String above = folder; above != null; above = parent(above)) {
            if (folders.contains(above)) {
                return above;
            }
        }
        return null;
    }

    private static @Nullable String parent(String folder) {
        return folder.isEmpty() ? null : folder.substring(0, folder.lastIndexOf('/', folder.length() - 2) + 1);
    }
}
