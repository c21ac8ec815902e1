package dev.larder.server.source;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * Data that lies in one file, plain or gzipped.
 *
 * @param region where, in the file or in what it unpacks to
 * @param isGzip whether the file has to be unpacked
 */
record FileData(FileRegion region, boolean isGzip) implements ArrayData {
    private static final int UNPACK_BYTES = 64 << 10;

    @Override
    public List<FileRegion> regions() {
        return isGzip ? List.of() : List.of(region);
    }

    @Override
    public ReadableByteChannel open() {
        try {
            InputStream in = Files.newInputStream(region.file());
            try {
                InputStream unpacked = isGzip ? new GZIPInputStream(in, UNPACK_BYTES) : in;
                unpacked.skipNBytes(region.offset());
                return new DataChannel(region, unpacked);
            } catch (IOException | RuntimeException e) {
                in.close();
                throw e;
            }
        } catch (IOException e) {
            throw Refusal.unreadable(region.file(), 0, e);
        }
    }
}
