package dev.larder.readers.packed;

import dev.larder.reader.FormatReader;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import java.io.IOException;

/**
 * Unpacks. Of each file of a request there is one array of bytes, called like the number of the file: with {@code files} all that it unpacks
 * to, with {@code stretches} what some stretches of it do, one after the other; see {@link Stretch} for the words that name them.
 */
public final class PackedReader implements FormatReader {
    @Override
    public String kind() {
        return "packed";
    }

    @Override
    public OpenedSource open(ReadRequest request, ReadProgress progress) throws IOException {
        PackedSource source = new PackedSource(request, progress);
        try {
            source.look();
            return source;
        } catch (IOException | RuntimeException | Error e) {
            source.close();
            throw e;
        }
    }
}
