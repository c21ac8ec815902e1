package dev.larder.server.source.formats;

import dev.larder.npy.NpyHeader;
import dev.larder.reader.Selection;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Extents;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.zip.GZIPInputStream;

/**
 * A file of arrays that is listed but not yet opened.
 *
 * @param path its path, as the source was named
 * @param identity the file as it was when it was listed
 * @param arrayName the name of its array within the dataset, or the level of the names of its members
 * @param hasMembers whether its arrays have names of their own
 */
public record DiscoveredFile(
        Path path, SourceIdentity identity, SourceKind kind, String arrayName, boolean hasMembers) {
    private static final int UNPACK_BYTES = 512;
    /** The most that deflate can pack. Without the limit a small file could reserve terabytes. */
    private static final long TIGHTEST_PACKING = 1032;

    /** Describes a file of a folder. */
    public static DiscoveredFile below(FileTable files, int index, SourceKind kind, SourceOptions options) {
        String name = nameOf(files.name(index), kind);
        return new DiscoveredFile(files.path(index), files.get(index), kind, name, kind.hasMembers(options));
    }

    /** Describes a file that is the source itself. The names of its members have no level. */
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

    /** Returns whether the file is compressed as a whole. */
    public boolean isGzip() {
        return fileName().toLowerCase(Locale.ROOT).endsWith(".gz");
    }

    String fileName() {
        return String.valueOf(path.getFileName());
    }

    long byteSize() {
        return identity.byteSize();
    }

    String nameOf(String member) {
        return !hasMembers ? arrayName : arrayName.isEmpty() ? member : arrayName + "/" + member;
    }

    /** Opens the file, and unpacks it if it is compressed as a whole. */
    InputStream openUnpacked() throws IOException {
        InputStream in = Files.newInputStream(path);
        try {
            return isGzip() ? new GZIPInputStream(in, UNPACK_BYTES) : in;
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    /** Returns the data of a file that is a header and an array. */
    ArrayData data(NpyHeader header, long dataOffset) {
        if (!isGzip()) {
            return plainData(header, dataOffset);
        }
        requirePlausible(path, "its ", header.byteSize(), byteSize());
        return new GzipData(new Extent(path, dataOffset, header.byteSize()));
    }

    /** Returns the data of a file that is not compressed. Refuses the file if the data does not end where it does. */
    ArrayData plainData(NpyHeader header, long dataOffset) {
        long wanted = header.byteSize();
        long present = byteSize() - dataOffset;
        if (present < wanted) {
            throw Refusal.of(path, byteSize(), "it ends after " + present + " of " + wanted + " bytes of data");
        } else if (present > wanted) {
            throw Refusal.of(
                    path, dataOffset + wanted, (present - wanted) + " bytes follow the " + wanted + " bytes of data");
        }
        return Extents.of(new Extent(path, dataOffset, wanted));
    }

    /** Refuses data that cannot be packed into so few bytes. */
    static void requirePlausible(Path path, String what, long unpackedBytes, long packedBytes) {
        if (unpackedBytes / TIGHTEST_PACKING > packedBytes) {
            throw Refusal.of(
                    path, 0, what + packedBytes + " bytes cannot hold the " + unpackedBytes + " bytes it claims");
        }
    }
}
