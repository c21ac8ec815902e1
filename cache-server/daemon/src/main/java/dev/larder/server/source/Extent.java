package dev.larder.server.source;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Consecutive bytes of a file, in the form in which they are stored. */
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

    /** Opens the file at its start. The caller closes the channel. */
    public FileChannel openFile() {
        try {
            return FileChannel.open(file, StandardOpenOption.READ);
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, e);
        }
    }
}
