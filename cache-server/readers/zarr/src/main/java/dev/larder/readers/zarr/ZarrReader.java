package dev.larder.readers.zarr;

import dev.larder.reader.FormatReader;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import java.io.IOException;

/**
 * Reads the arrays of Zarr folders: groups are levels of names. Opens only files of the request: keys that lead out of a folder are missing chunks.
 */
public final class ZarrReader implements FormatReader {
    @Override
    public String kind() {
        return "zarr";
    }

    @Override
    public OpenedSource open(ReadRequest request, ReadProgress progress) throws IOException {
        ZarrSource source = new ZarrSource(request, progress);
        source.look();
        return source;
    }
}
