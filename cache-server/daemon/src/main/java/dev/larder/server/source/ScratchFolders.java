package dev.larder.server.source;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Gives programs that read for a load a place to write. Thread-safe. */
public interface ScratchFolders {
    /** Creates a folder for this user alone. The caller removes it. */
    Path newFolder() throws IOException;

    /**
     * Reserves space for files; fails with {@link dev.larder.error.ErrorCode#NO_SPACE} if there is none. A negative length moves reserved space from
     * files to arrays.
     */
    void setAside(long byteSize);

    /** Returns how many bytes a folder and everything in it occupies. */
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
                return 0; // the temporary folder has no quota
            }
        };
    }
}
