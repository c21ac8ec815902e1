package dev.larder.readers.parquet;

import dev.hardwood.HardwoodContext;
import dev.hardwood.reader.ParquetFileReader;
import java.io.IOException;
import java.nio.file.Path;

/** A file whose footer was read, and what the library reads it with, which closes both. */
record OpenedFile(CheckedFile file, ParquetFileReader reader) {
    static OpenedFile of(Path path, HardwoodContext context) throws IOException {
        CheckedFile file = new CheckedFile(path);
        return new OpenedFile(file, ParquetFileReader.open(file, context));
    }
}
