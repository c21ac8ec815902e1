package dev.larder.server.source;

import dev.larder.layout.ArrayName;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.GZIPInputStream;

/**
 * One array of a source: found and checked, its data not yet read.
 *
 * @param name what it will be called
 * @param identity its file, as it was when it was checked
 * @param header element type, order and shape; bytes are never converted, so IDX gives big-endian types
 * @param dataOffset where data starts in the file, or in what the file unpacks to
 * @param isGzip whether the file has to be unpacked
 */
public record SourceArray(ArrayName name, SourceIdentity identity, NpyHeader header, long dataOffset, boolean isGzip) {
    private static final int UNPACK_BYTES = 64 << 10;

    /** Returns the file it is read from. */
    public Path file() {
        return identity.file();
    }

    /** Returns the type of its elements. */
    public Dtype dtype() {
        return header.dtype();
    }

    /** Returns the order in which its elements lie. */
    public Order order() {
        return header.order();
    }

    /** Returns a copy of its dimensions. */
    public long[] shape() {
        return header.shape();
    }

    /** Returns how many bytes its data takes. */
    public long byteSize() {
        return header.byteSize();
    }

    /** Returns where its data lies plain in a file, for readers that jump; empty if it has to be unpacked. */
    public Optional<FileRegion> region() {
        return isGzip ? Optional.empty() : Optional.of(new FileRegion(file(), dataOffset, byteSize()));
    }

    /**
     * Opens its data: exactly {@link #byteSize()} bytes, or a {@link dev.larder.error.ErrorCode#BAD_INPUT} failure while
     * they are read, at the latest with the last of them. The caller closes the channel.
     */
    public ReadableByteChannel open() {
        try {
            InputStream in = Files.newInputStream(file());
            try {
                InputStream unpacked = isGzip ? new GZIPInputStream(in, UNPACK_BYTES) : in;
                unpacked.skipNBytes(dataOffset);
                return new DataChannel(this, unpacked);
            } catch (IOException | RuntimeException e) {
                in.close();
                throw e;
            }
        } catch (IOException e) {
            throw Refusal.unreadable(file(), 0, e);
        }
    }
}
