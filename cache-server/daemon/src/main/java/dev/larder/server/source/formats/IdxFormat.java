package dev.larder.server.source.formats;

import dev.larder.npy.NpyHeader;
import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Extents;
import dev.larder.server.source.GzipData;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.SourceProbe;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.List;
import java.util.zip.GZIPInputStream;

/** IDX, the format of MNIST and its kin, plain or gzipped. */
final class IdxFormat implements SourceFormat {
    private static final int UNPACK_BYTES = 512;

    @Override
    public List<Member> members(DiscoveredFile file, SourceProbe probe, SourceOptions options) throws IOException {
        long fileBytes = file.identity().byteSize();
        NpyHeader header = header(file);
        long dataOffset = IdxHeader.length(header);
        if (file.isGzip()) {
            DiscoveredFile.requirePlausible(file.path(), "its ", header.byteSize(), fileBytes);
        } else {
            file.requireExact(dataOffset, header.byteSize(), fileBytes);
        }
        Extent region = new Extent(file.path(), dataOffset, header.byteSize());
        return List.of(new Member("", header, file.isGzip() ? new GzipData(region) : Extents.of(region)));
    }

    private static NpyHeader header(DiscoveredFile file) throws IOException {
        try (InputStream in = Files.newInputStream(file.path());
                InputStream unpacked = file.isGzip() ? new GZIPInputStream(in, UNPACK_BYTES) : in) {
            return IdxHeader.read(unpacked, file.path(), file.kind().promisedDimensions(file.fileName()));
        }
    }
}
