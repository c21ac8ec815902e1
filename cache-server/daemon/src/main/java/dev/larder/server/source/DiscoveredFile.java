package dev.larder.server.source;

import dev.larder.reader.Selection;
import java.nio.file.Path;
import java.util.Locale;

/**
 * A file of arrays that is listed but not yet opened.
 *
 * @param path its path, as the source was named
 * @param identity the file as it was when it was listed
 * @param kind its kind, by its name
 * @param arrayName the name of its array within the dataset, or the level of the names of its members
 * @param hasMembers whether it has arrays with names of their own
 */
public record DiscoveredFile(
        Path path, SourceIdentity identity, SourceKind kind, String arrayName, boolean hasMembers) {
    /** Deflate cannot pack tighter; so a small file cannot make us reserve terabytes. */
    private static final long TIGHTEST_PACKING = 1032;

    /** Describes a file of a folder. */
    public static DiscoveredFile below(FileTable files, int index, SourceKind kind, SourceOptions options) {
        String name = nameOf(files.name(index), kind);
        return new DiscoveredFile(files.path(index), files.get(index), kind, name, kind.hasMembers(options));
    }

    /** Describes a file that is the source itself: the names of its members stand alone. */
    public static DiscoveredFile alone(FileTable file, SourceKind kind, SourceOptions options) {
        boolean hasMembers = kind.hasMembers(options);
        String name = hasMembers ? "" : nameOf(file.name(0), kind);
        return new DiscoveredFile(file.path(0), file.get(0), kind, name, hasMembers);
    }

    /** Returns the name in the store of the array of a file. */
    public static String nameOf(String path, SourceKind kind) {
        int end = path.lastIndexOf('/') + 1;
        return Selection.storedName(path.substring(0, end) + kind.stem(path.substring(end)));
    }

    /** Returns whether the file is a gzip of what the rest of its name says. */
    public boolean isGzip() {
        return fileName(path).toLowerCase(Locale.ROOT).endsWith(".gz");
    }

    public String fileName() {
        return fileName(path);
    }

    /** Refuses data that does not end where the file does. */
    public void requireExact(long dataOffset, long wanted, long fileSize) {
        long present = fileSize - dataOffset;
        if (present < wanted) {
            throw Refusal.of(path, fileSize, "it ends after " + present + " of " + wanted + " bytes of data");
        } else if (present > wanted) {
            throw Refusal.of(
                    path, dataOffset + wanted, (present - wanted) + " bytes follow the " + wanted + " bytes of data");
        }
    }

    /** Refuses data that cannot be packed into so few bytes. */
    public static void requirePlausible(Path path, String what, long unpackedBytes, long packedBytes) {
        if (unpackedBytes / TIGHTEST_PACKING > packedBytes) {
            throw Refusal.of(
                    path, 0, what + packedBytes + " bytes cannot hold the " + unpackedBytes + " bytes it claims");
        }
    }

    private static String fileName(Path path) {
        return String.valueOf(path.getFileName());
    }
}
