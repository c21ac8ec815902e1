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
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.util.List;
import java.util.zip.GZIPInputStream;

/** The format of {@code numpy.save}, plain or gzipped. */
final class NpyFormat implements SourceFormat {
    private static final int UNPACK_BYTES = 512;

    @Override
    public List<Member> members(DiscoveredFile file, SourceProbe probe, SourceOptions options) throws IOException {
        long fileBytes = file.identity().byteSize();
        NpyHeader header = file.isGzip() ? packedHeader(file) : probe.npyHeader(file);
        if (file.isGzip()) {
            DiscoveredFile.requirePlausible(file.path(), "its ", header.byteSize(), fileBytes);
        } else {
            file.requireExact(header.dataOffset(), header.byteSize(), fileBytes);
        }
        Extent region = new Extent(file.path(), header.dataOffset(), header.byteSize());
        return List.of(new Member("", header, file.isGzip() ? new GzipData(region) : Extents.of(region)));
    }

    private static NpyHeader packedHeader(DiscoveredFile file) throws IOException {
        try (InputStream in = Files.newInputStream(file.path());
                InputStream unpacked = new GZIPInputStream(in, UNPACK_BYTES)) {
            return NpyHeader.read(Channels.newChannel(unpacked), file.path().toString());
        }
    }
}
