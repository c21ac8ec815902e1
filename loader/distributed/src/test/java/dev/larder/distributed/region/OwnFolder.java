package dev.larder.distributed.region;

import dev.larder.testing.Folders;
import dev.larder.testing.LeavesNothingBehind;
import java.nio.file.Path;

/** A folder for regions in {@code /dev/shm} that goes with its test, as {@link LeavesNothingBehind} wants it. */
public final class OwnFolder implements AutoCloseable {
    private final Path folder = LeavesNothingBehind.newStore();

    /** Returns where it is. */
    public Path path() {
        return folder;
    }

    /** Uses its regions. The caller closes them. */
    public Regions regions() {
        return FolderRegions.in(folder);
    }

    @Override
    public void close() {
        Folders.remove(folder);
    }
}
