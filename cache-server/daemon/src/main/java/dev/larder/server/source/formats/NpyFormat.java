package dev.larder.server.source.formats;

import dev.larder.npy.NpyHeader;
import dev.larder.server.source.SourceArray;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.util.List;

/** The format of {@code numpy.save}, plain or gzipped. */
final class NpyFormat implements SourceFormat {
    @Override
    public List<SourceArray> arrays(DiscoveredFile file, SourceProbe probe) throws IOException {
        NpyHeader header = file.isGzip() ? packedHeader(file) : probe.npyHeader(file);
        return List.of(probe.array(file, "", header, file.data(header, header.dataOffset())));
    }

    private static NpyHeader packedHeader(DiscoveredFile file) throws IOException {
        try (InputStream unpacked = file.openUnpacked()) {
            return NpyHeader.read(Channels.newChannel(unpacked), file.path().toString());
        }
    }
}
