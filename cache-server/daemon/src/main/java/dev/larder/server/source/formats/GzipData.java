package dev.larder.server.source.formats;

import dev.larder.server.source.ArrayData;
import dev.larder.server.source.DataChannel;
import dev.larder.server.source.Extent;
import dev.larder.server.source.ExtentStream;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.util.zip.GZIPInputStream;

/**
 * Data of a file that is compressed as a whole.
 *
 * @param region its place in the unpacked file
 */
record GzipData(Extent region) implements ArrayData {
    private static final int UNPACK_BYTES = 64 << 10;

    @Override
    public ReadableByteChannel open() {
        FileChannel channel = region.openFile();
        try {
            InputStream packed = new ExtentStream(channel, 0, channel.size());
            InputStream unpacked = new GZIPInputStream(packed, UNPACK_BYTES);
            unpacked.skipNBytes(region.offset());
            return new DataChannel(region, "", unpacked);
        } catch (IOException e) {
            throw closing(channel, Refusal.unreadable(region.file(), 0, e));
        } catch (RuntimeException e) {
            throw closing(channel, e);
        }
    }

    private static RuntimeException closing(FileChannel channel, RuntimeException failure) {
        try {
            channel.close();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
        return failure;
    }
}
