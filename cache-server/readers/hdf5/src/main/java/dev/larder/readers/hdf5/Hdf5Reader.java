package dev.larder.readers.hdf5;

import dev.larder.reader.FormatReader;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import java.io.IOException;

/**
 * Reads the datasets of HDF5 files: groups are levels of names, bytes stay as they are. Refuses datasets that have neither numbers, nor texts,
 * nor lists of numbers.
 */
public final class Hdf5Reader implements FormatReader {
    @Override
    public String kind() {
        return "hdf5";
    }

    @Override
    public OpenedSource open(ReadRequest request, ReadProgress progress) throws IOException {
        Hdf5Source source = new Hdf5Source(request, progress);
        try {
            source.look();
            return source;
        } catch (IOException | RuntimeException | Error e) {
            source.close();
            throw e;
        }
    }
}
