package dev.larder.server.source;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * Data that lies in one file, plain or gzipped.
 *
 * @param region where, in the file or in what it unpacks to
 * @param isGzip whether the file has to be unpacked
 */
public record FileData(FileRegion region, boolean isGzip) implements ArrayData {
    private static final int UNPACK_BYTES = 64 << 10;

    @Override
    public List<FileRegion> regions() {
        return isGzip ? List.of() : List.of(region);
    }

    @Override
    public ReadableByteChannel open() {
        try {
            FileChannel channel = FileChannel.open(region.file(), StandardOpenOption.READ);
            try {
                return new DataChannel(region, "", isGzip ? unpacked(channel) : plain(channel));
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
        } catch (IOException e) {
            throw Refusal.unreadable(region.file(), 0, e);
        }
    }

    private InputStream plain(FileChannel channel) {
        return new RegionStream(channel, region.offset(), region.byteSize());
    }

    private InputStream unpacked(FileChannel channel) throws IOException {
        InputStream packed = new RegionStream(channel, 0, channel.size());
        InputStream unpacked = new GZIPInputStream(packed, UNPACK_BYTES);
        unpacked.skipNBytes(region.offset());
        return unpacked;
    }
}
