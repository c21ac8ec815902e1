package dev.larder.server.source;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Gives programs that read for a load a place to write. Thread-safe. */
public interface ScratchFolders {
    /** Makes a folder for this user alone. Whoever asked removes it. */
    Path newFolder() throws IOException;

    /**
     * Sets space aside for what is about to be written; fails with {@link dev.larder.error.ErrorCode#NO_SPACE} where there is none. Less than
     * 0 says that so much of it counts as arrays from now on.
     */
    void setAside(long byteSize);

    /** Measures what a folder and everything in it occupies, in bytes. */
    long occupiedBytes(Path folder);

    /** Returns those of a program that reads its own files, in the temporary folder. */
    static ScratchFolders temporary() {
        return new ScratchFolders() {
            @Override
            public Path newFolder() throws IOException {
                return Files.createTempDirectory("larder-reader");
            }

            @Override
            public void setAside(long byteSize) {
                // a full folder is found when it is written
            }

            @Override
            public long occupiedBytes(Path folder) {
                return 0; // nobody else's space is at stake
            }
        };
    }
}
