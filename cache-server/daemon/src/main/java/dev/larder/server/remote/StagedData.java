package dev.larder.server.remote;

import dev.larder.server.source.DeliveredData;
import dev.larder.server.source.Extents;
import dev.larder.server.source.SourceIdentity;
import java.nio.channels.ReadableByteChannel;
import java.util.function.LongConsumer;

/**
 * An array that was fetched into a file just as the store would have it, so that the file is moved in.
 *
 * @param data its place in the file
 * @param file what it was when it had been fetched
 */
record StagedData(Extents data, long byteSize, SourceIdentity file) implements DeliveredData {
    @Override
    public ReadableByteChannel open() {
        return data.open();
    }

    @Override
    public SourceIdentity deliver(LongConsumer beforeWriting, LongConsumer onBytes) {
        file.requireUnchanged();
        onBytes.accept(byteSize);
        return file;
    }
}
