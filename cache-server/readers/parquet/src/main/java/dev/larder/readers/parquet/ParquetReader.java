package dev.larder.readers.parquet;

import dev.larder.reader.FormatReader;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import java.io.IOException;

/**
 * Reads the columns of Parquet files: those of one level are one table, row after row. Numbers become arrays, texts and bytes columns,
 * lists of numbers ragged columns; a column with nulls has a mask.
 */
public final class ParquetReader implements FormatReader {
    @Override
    public String kind() {
        return "parquet";
    }

    @Override
    public OpenedSource open(ReadRequest request, ReadProgress progress) throws IOException {
        ParquetSource source = new ParquetSource(request, progress);
        try {
            source.look();
            return source;
        } catch (IOException | RuntimeException | Error e) {
            source.close();
            throw e;
        }
    }
}
