package dev.larder.server.store;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that {@link Posix#hasWriters} works on a file system. Overlayfs, for example, overlooks a writable mapping after its descriptor
 * is closed.
 */
final class WriterProbe {
    private static final Logger LOG = LoggerFactory.getLogger(WriterProbe.class);
    private static final int OWNER_ONLY = 0600;

    private WriterProbe() {}

    /** Returns whether a file that only a mapping can still write to is found to have a writer. False if that cannot be tried. */
    static boolean showsMappings(Posix posix, BulkIo io, Path scratch) {
        try {
            boolean showsMappings = tryOut(posix, io, scratch);
            if (!showsMappings) {
                LOG.info(
                        "the file system hides writable mappings; every build is copied: folder={}",
                        scratch.getParent());
            }
            return showsMappings;
        } catch (LarderException e) {
            LOG.info(
                    "cannot check for writable mappings; every build is copied: file={} reason={}",
                    scratch,
                    e.toString());
            return false;
        } finally {
            remove(scratch);
        }
    }

    private static boolean tryOut(Posix posix, BulkIo io, Path scratch) {
        long address = mapWithoutDescriptor(posix, io, scratch);
        try {
            int reading = posix.openForReading(scratch);
            try {
                return posix.hasWriters(reading);
            } finally {
                posix.close(reading);
            }
        } finally {
            posix.unmap(address, PageSize.BYTES);
        }
    }

    private static long mapWithoutDescriptor(Posix posix, BulkIo io, Path scratch) {
        int writing = posix.openOrCreate(scratch, OWNER_ONLY);
        try {
            io.resize(writing, PageSize.BYTES);
            return io.mapWritable(writing, 0, PageSize.BYTES);
        } finally {
            posix.close(writing);
        }
    }

    private static void remove(Path scratch) {
        try {
            Files.deleteIfExists(scratch);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // the next start empties the folder
        }
    }
}
