package dev.larder.server.reader;

import dev.larder.server.source.ArrayData;
import dev.larder.server.source.FileData;
import dev.larder.server.source.FileRegion;
import java.nio.channels.ReadableByteChannel;
import java.util.List;

/**
 * An array whose bytes a reader has found in a file.
 *
 * @param source what ends with it
 * @param file where the bytes are
 */
record RegionData(ReaderSource source, FileData file) implements ArrayData {
    @Override
    public List<FileRegion> regions() {
        return file.regions();
    }

    @Override
    public ReadableByteChannel open() {
        return file.open();
    }

    @Override
    public void release() {
        source.close();
    }
}
