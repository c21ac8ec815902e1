package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.layout.ArrayName;
import dev.larder.layout.ColumnPart;
import dev.larder.layout.Names;
import dev.larder.layout.StoreLayout;
import dev.larder.npy.NpyHeader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * A file of a known kind, found but not yet opened.
 *
 * @param path where it lies
 * @param kind what its name says it is
 * @param arrayName what its array is called within the dataset
 */
record SourceFile(Path path, SourceKind kind, String arrayName) {
    private static final int UNPACK_BYTES = 512;

    /** Deflate cannot pack tighter; so a small file cannot make us reserve terabytes. */
    private static final long TIGHTEST_PACKING = 1032;

    /** Reads and checks everything but the data itself. */
    List<SourceArray> check(String dataset, SourceProbe probe) {
        String objection = Names.arrayObjection(arrayName);
        if (objection != null) {
            throw Refusal.of(path, 0, "its array cannot be called " + Names.printable(arrayName) + ": " + objection);
        }
        SourceProbe.Look look = probe.look(path);
        SourceIdentity identity = look.identity();
        NpyHeader header = header(probe, look);
        long dataOffset = kind == SourceKind.NPY ? header.dataOffset() : IdxHeader.length(header);
        if (kind == SourceKind.IDX_GZIP) {
            requirePlausible(header, identity.byteSize());
        } else {
            requireExact(dataOffset, header.byteSize(), identity.byteSize());
        }
        requireStorable(header, probe);
        FileRegion region = new FileRegion(path, dataOffset, header.byteSize());
        return List.of(new SourceArray(
                new ArrayName(dataset, arrayName),
                header,
                new FileData(region, kind == SourceKind.IDX_GZIP),
                List.of(identity),
                ColumnPart.NONE));
    }

    private NpyHeader header(SourceProbe probe, SourceProbe.Look look) {
        try {
            return switch (kind) {
                case NPY -> probe.npyHeader(path, look);
                case IDX -> idxHeader(false);
                case IDX_GZIP -> idxHeader(true);
            };
        } catch (IOException e) {
            throw Refusal.unreadable(path, 0, e);
        }
    }

    private NpyHeader idxHeader(boolean packed) throws IOException {
        try (InputStream in = Files.newInputStream(path);
                InputStream unpacked = packed ? new GZIPInputStream(in, UNPACK_BYTES) : in) {
            return IdxHeader.read(unpacked, path, kind.promisedDimensions(fileName()));
        }
    }

    private String fileName() {
        return String.valueOf(path.getFileName());
    }

    private void requireExact(long dataOffset, long wanted, long fileSize) {
        long present = fileSize - dataOffset;
        if (present < wanted) {
            throw Refusal.of(path, fileSize, "it ends after " + present + " of " + wanted + " bytes of data");
        } else if (present > wanted) {
            throw Refusal.of(
                    path, dataOffset + wanted, (present - wanted) + " bytes follow the " + wanted + " bytes of data");
        }
    }

    private void requirePlausible(NpyHeader header, long fileSize) {
        if (header.byteSize() / TIGHTEST_PACKING > fileSize) {
            throw Refusal.of(
                    path, 0, "its " + fileSize + " bytes cannot hold the " + header.byteSize() + " bytes it claims");
        }
    }

    /** A header may be readable by us and yet too long for numpy where the store would put it. */
    private void requireStorable(NpyHeader header, SourceProbe probe) {
        if (probe.isStorable(header)) {
            return;
        }
        try {
            header.encode(StoreLayout.DATA_ALIGNMENT);
            probe.noteStorable(header);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.BAD_INPUT) {
                throw e;
            }
            throw Refusal.of(path, 0, e.getMessage() == null ? "it cannot be stored" : e.getMessage());
        }
    }
}
