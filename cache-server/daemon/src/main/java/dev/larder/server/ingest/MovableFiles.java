package dev.larder.server.ingest;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.NpyHeader;
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
        NpyHeader header = array.header();
        String name = array.name().array();
        String file = StoreLayout.arrayFile(name);
        long offset = array.extents().get(0).offset();
        OptionalInt crc32c = version.moveIn(array.file(), file, offset, header.byteSize(), progress::addBytes);
        if (crc32c.isEmpty()) {
            return false;
        }
        version.add(new ArrayEntry(
                name,
                header.dtype().descr(),
                header.order().name().charAt(0),
                header.shape(),
                file,
                offset,
                header.byteSize(),
                crc32c.getAsInt(),
                array.part()));
        progress.addFile();
        return true;
    }
}
