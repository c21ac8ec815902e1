package dev.larder.server.source.formats;

import dev.larder.server.source.ArrayData;
import dev.larder.server.source.DataChannel;
import dev.larder.server.source.Extent;
import dev.larder.server.source.ExtentStream;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.zip.CRC32;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipException;

/** Unpacks a member of an archive. At its end, checks the length and the checksum that the archive names. */
final class DeflatedStream extends InputStream {
    private static final int UNPACK_BYTES = 64 << 10;

    private final FileChannel channel;
    private final ExtentStream packed;
    private final Inflater inflater = new Inflater(true);
    private final InputStream unpacked;
    private final ZipMember member;
    private final CRC32 crc = new CRC32();
    private long count;

    private DeflatedStream(FileChannel channel, ZipMember member, int bufferBytes) {
        this.channel = channel;
        this.member = member;
        this.packed = new ExtentStream(channel, member.offset(), member.packedBytes());
        this.unpacked = new InflaterInputStream(packed, inflater, bufferBytes);
    }

    /** Returns the data of a member; {@code dataOffset} is its place in the unpacked member. */
    static ArrayData data(Path file, ZipMember member, long dataOffset) {
        return () -> {
            try {
                DeflatedStream in = open(file, member, UNPACK_BYTES);
                try {
                    in.skipNBytes(dataOffset);
                    Extent region = new Extent(file, dataOffset, member.byteSize() - dataOffset);
                    return new DataChannel(region, "member " + member.name() + ": ", in);
                } catch (IOException | RuntimeException e) {
                    in.close();
                    throw e;
                }
            } catch (IOException e) {
                throw Refusal.unreadable(file, 0, e);
            }
        };
    }

    /** Opens the file. The caller closes the stream. */
    static DeflatedStream open(Path file, ZipMember member, int bufferBytes) throws IOException {
        return new DeflatedStream(FileChannel.open(file, StandardOpenOption.READ), member, bufferBytes);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        int read = unpacked.read(target, offset, length);
        if (read < 0) {
            requireWhole();
            return -1;
        }
        crc.update(target, offset, read);
        count += read;
        return read;
    }

    private void requireWhole() throws ZipException {
        if (inflater.getRemaining() + packed.remaining() > 0) {
            throw new ZipException("it ends before its compressed bytes do");
        } else if (count != member.byteSize()) {
            throw new ZipException("it unpacks to " + count + " bytes instead of " + member.byteSize());
        } else if (crc.getValue() != member.crc32()) {
            throw new ZipException(String.format("its CRC-32 is %08x instead of %08x", crc.getValue(), member.crc32()));
        }
    }

    @Override
    public void close() throws IOException {
        inflater.end();
        channel.close();
    }
}
