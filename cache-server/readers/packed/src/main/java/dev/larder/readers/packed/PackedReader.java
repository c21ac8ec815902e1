package dev.larder.readers.packed;

import dev.larder.reader.FormatReader;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import java.io.IOException;

/**
 * Unpacks each file of a request into one array of bytes, named like the number of the file: the whole file with {@code files}, a sequence of
 * {@link Stretch}es with {@code stretches}.
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
