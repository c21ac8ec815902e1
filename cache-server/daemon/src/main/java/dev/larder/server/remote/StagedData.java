package dev.larder.server.remote;

import dev.larder.server.source.DeliveredData;
import dev.larder.server.source.FileData;
import dev.larder.server.source.FileRegion;
import dev.larder.server.source.SourceIdentity;
import java.nio.channels.ReadableByteChannel;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * An array that was fetched into a file just as the store would have it, so that the file is moved in.
 *
 * @param data where it is
 * @param file what it was when it had been fetched
 */
record StagedData(FileData data, SourceIdentity file) implements DeliveredData {
    @Override
    public List<FileRegion> regions() {
        return data.regions();
    }

    @Override
    public ReadableByteChannel open() {
        return data.open();
    }

    @Override
    public SourceIdentity deliver(LongConsumer beforeWriting, LongConsumer onBytes) {
        file.requireUnchanged();
        onBytes.accept(data.region().byteSize());
        return file;
    }
}
