package dev.larder.server.ingest;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.source.Extent;
import dev.larder.server.source.SourceArray;
import dev.larder.server.store.IncomingVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/** Moves files into the store that a client or a reader wrote in the format of segments. */
final class MovableFiles {
    /** Smaller arrays are copied: that takes no time, and they may share segments. */
    private static final long SMALLEST_BYTES = 1L << 20;

    private MovableFiles() {}

    /**
     * Returns whether a file can become a segment by a rename: it must be in the folder itself, without links and with one name. The target
     * of a link may belong to another user.
     */
    static boolean fits(SourceArray array, Path folder) {
        List<Extent> regions = array.extents();
        return array.byteSize() >= SMALLEST_BYTES
                && regions.size() == 1
                && StoreLayout.isDataStart(regions.get(0).offset())
                && array.file().getFileName().toString().endsWith(".npy")
                && isOwn(array.file(), folder);
    }

    private static boolean isOwn(Path file, Path folder) {
        try {
            Path expected = folder.toRealPath().resolve(folder.toAbsolutePath().relativize(file.toAbsolutePath()));
            return file.toRealPath().equals(expected)
                    && Integer.valueOf(1).equals(Files.getAttribute(file, "unix:nlink"));
        } catch (IOException | IllegalArgumentException e) {
            return false; // it is copied, and the copy reports the failure
        }
    }

    /** Moves files, and returns the arrays of files that stay because a process can still write to them. */
    static List<SourceArray> moveAll(List<SourceArray> arrays, IncomingVersion version, LoadProgress progress) {
        return arrays.stream().filter(array -> !move(array, version, progress)).toList();
    }

    private static boolean move(SourceArray array, IncomingVersion version, LoadProgress progress) {
        String file = StoreLayout.arrayFile(array.name().array());
        long offset = array.extents().get(0).offset();
        OptionalInt crc32c = version.moveIn(array.file(), file, offset, array.byteSize(), progress::addBytes);
        if (crc32c.isEmpty()) {
            return false;
        }
        version.add(array.entry(file, offset, crc32c.getAsInt()));
        progress.addFile();
        return true;
    }
}
