package dev.larder.server.source;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Says where the data of an array lies in a file, byte for byte as it is to be stored.
 *
 * @param file the file
 * @param offset where the data starts
 * @param byteSize how long it is
 */
public record Extent(Path file, long offset, long byteSize) {
    /** Opens the file, positioned at the data. The caller closes the channel. */
    public FileChannel open() {
        FileChannel channel = openFile();
        try {
            return channel.position(offset);
        } catch (IOException e) {
            throw Refusal.unreadable(file, offset, e);
        }
    }

    FileChannel openFile() {
        try {
            return FileChannel.open(file, StandardOpenOption.READ);
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, e);
        }
    }
}
