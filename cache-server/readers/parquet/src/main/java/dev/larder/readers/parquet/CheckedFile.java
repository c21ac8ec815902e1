package dev.larder.readers.parquet;

import dev.hardwood.InputFile;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * A file from which nobody reads nothing: Hardwood does where a page says that it is longer than what is left of its column, and again, for
 * ever.
 */
final class CheckedFile implements InputFile {
    private final InputFile file;

    CheckedFile(Path path) {
        this.file = InputFile.of(path);
    }

    @Override
    public void open() throws IOException {
        file.open();
    }

    @Override
    public ByteBuffer readRange(long offset, int length) throws IOException {
        if (length <= 0) {
            throw new EOFException("a page goes on after the end of its column: offset=" + offset);
        }
        return file.readRange(offset, length);
    }

    @Override
    public long length() throws IOException {
        return file.length();
    }

    @Override
    public String name() {
        return file.name();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
