package dev.larder.readers.tfrecord;

import dev.larder.reader.FormatReader;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import java.io.IOException;

/**
 * Reads TFRecord files; those of one level are one table. With {@code --as bytes} a record is a row of raw bytes, otherwise it is a
 * {@code tf.train.Example}, and its features become arrays and columns. Compares every checksum.
 */
public final class TfRecordReader implements FormatReader {
    @Override
    public String kind() {
        return "tfrecord";
    }

    @Override
    public OpenedSource open(ReadRequest request, ReadProgress progress) throws IOException {
        TfRecordSource source = new TfRecordSource(request, progress);
        source.look();
        return source;
    }
}
