package dev.larder.distributed.region;

import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

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
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.deleteIfExists(file);
            }
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
