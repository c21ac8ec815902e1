package dev.larder.server.source.formats;

import dev.larder.server.source.ArrayData;
import dev.larder.server.source.DataChannel;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;

/**
 * Data that lies packed in an archive.
 *
 * @param file the archive
 * @param member what of it
 * @param dataOffset where in the unpacked member the data starts
 */
record DeflatedData(Path file, ZipMember member, long dataOffset) implements ArrayData {
    private static final int UNPACK_BYTES = 64 << 10;

    @Override
    public ReadableByteChannel open() {
        try {
            DeflatedStream in = DeflatedStream.open(file, member, UNPACK_BYTES);
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
    }
}
