package dev.larder.server.source;

import dev.larder.reader.WantedColumns;
import java.nio.file.Path;
import java.util.Locale;

/**
 * A source file of a known kind, found but not yet opened.
 *
 * @param path where it lies
 * @param kind what its name says it is
 * @param arrayName what its array is called within the dataset, or what the names of its members begin with
 * @param hasMembers whether it has arrays with names of their own
 */
public record DiscoveredFile(Path path, SourceKind kind, String arrayName, boolean hasMembers) {
    /** Deflate cannot pack tighter; so a small file cannot make us reserve terabytes. */
    private static final long TIGHTEST_PACKING = 1032;

    /** Replaces bytes of a name that are no text. */
    public static final char REPLACEMENT = '\uFFFD';

    /** Describes a file in a folder. */
    public static DiscoveredFile below(String folder, Path path, SourceKind kind, SourceOptions options) {
        return new DiscoveredFile(path, kind, stored(folder + kind.stem(fileName(path))), kind.hasMembers(options));
    }

    /** Describes a file that is a source by itself: the names of its members stand alone. */
    public static DiscoveredFile alone(Path path, SourceKind kind, SourceOptions options) {
        boolean hasMembers = kind.hasMembers(options);
        return new DiscoveredFile(path, kind, hasMembers ? "" : stored(kind.stem(fileName(path))), hasMembers);
    }

    /** Returns the name in the store. A name that is no text is kept, and refused later: other bytes may have the same name. */
    private static String stored(String name) {
        return name.indexOf(REPLACEMENT) < 0 ? WantedColumns.storedName(name) : name;
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
