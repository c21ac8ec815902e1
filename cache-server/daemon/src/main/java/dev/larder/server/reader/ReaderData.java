package dev.larder.server.reader;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.NpyHeader;
import dev.larder.server.source.DeliveredData;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Extents;
import dev.larder.server.source.SourceIdentity;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.function.LongConsumer;

/**
 * An array that a reader writes.
 *
 * @param source what the reader looks at
 * @param index the number of the offer
 */
record ReaderData(ReaderSource source, int index) implements DeliveredData {
    @Override
    public SourceIdentity deliver(LongConsumer beforeWriting, LongConsumer onBytes) {
        return SourceIdentity.of(source.deliver(index, beforeWriting, onBytes));
    }

    @Override
    public ReadableByteChannel open() {
        Path file = source.deliver(index, source.settings().scratch()::setAside, bytes -> {});
        NpyHeader header = source.header(index);
        long offset = StoreLayout.header(header).remaining();
        return Extents.of(new Extent(file, offset, header.byteSize())).open();
    }

    @Override
    public void release() {
        source.close();
    }
}
