package dev.larder.readers.parquet;

import dev.hardwood.InputFile;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/**
 * A file that refuses empty ranges, and a footer with lengths beyond its end. Hardwood takes memory for any length in a footer, and reads an empty
 * range indefinitely if a page claims to be longer than the rest of its column.
 */
final class CheckedFile implements InputFile {
    private static final int TAIL_BYTES = 8;
    private static final int MAGIC = 0x31524150; // PAR1

    private final InputFile file;

    CheckedFile(Path path) {
        this.file = InputFile.of(path);
    }

    @Override
    public void open() throws IOException {
        file.open();
        long end = file.length() - TAIL_BYTES;
        if (end > 0) {
            ByteBuffer tail = file.readRange(end, TAIL_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            int footerBytes = tail.getInt();
            if (tail.getInt() == MAGIC && footerBytes > 0 && footerBytes <= end) { // the library refuses all others
                new CompactFields(file.readRange(end - footerBytes, footerBytes)).requireSound();
            }
        }
    }

    @Override
    public ByteBuffer readRange(long offset, int length) throws IOException {
        if (length <= 0) {
            throw new EOFException("a page extends beyond the end of its column: offset=" + offset);
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
