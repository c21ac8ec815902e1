package dev.larder.server.reader;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.NpyHeader;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Extents;
import dev.larder.server.source.SourceIdentity;
import java.nio.channels.ReadableByteChannel;
import java.util.function.LongConsumer;

/**
 * An array that a reader writes to a file, together with all other arrays of its source.
 *
 * @param index the number of the offer
 */
public record ReaderData(ReaderSource source, int index) implements ArrayData {
    /**
     * Lets the reader write all arrays, unless it has, and returns the {@code .npy} file of this one. The file belongs to this user.
     *
     * @param beforeWriting takes the number of all bytes, before they are written
     * @param onBytes takes the number of bytes of each step
     */
    public SourceIdentity deliver(LongConsumer beforeWriting, LongConsumer onBytes) {
        return SourceIdentity.of(source.deliver(index, beforeWriting, onBytes));
    }

    /** Returns the place of the bytes in the file: they begin where those of a stored array do. */
    public Extent region(SourceIdentity file) {
        NpyHeader header = source.header(index);
        return new Extent(file.file(), StoreLayout.header(header).remaining(), header.byteSize());
    }

    @Override
    public ReadableByteChannel open() {
        SourceIdentity file = deliver(source.settings().scratch()::setAside, bytes -> {});
        return Extents.of(region(file)).open();
    }

    @Override
    public void release() {
        source.close();
    }
}
