package dev.larder.server.store.space;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Measures the space that files occupy: less than their length if they have holes, more if pages are huge. */
public final class Occupied {
    private static final Posix POSIX = Posix.system();

    private Occupied() {}

    /** Adds up the blocks of a file, or of a folder and everything in it, in bytes. Links are not followed. A missing file counts 0. */
    public static long bytes(Path place) {
        FileStatus status = status(place);
        if (status == null) {
            return 0;
        }
        long sum = status.storedBytes();
        if (status.isFolder()) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(place)) {
                for (Path entry : entries) {
                    sum += bytes(entry);
                }
            } catch (IOException gone) {
                return sum;
            }
        }
        return sum;
    }

    /** Adds up the blocks of segments, in bytes. Segments outside the store count 0. */
    public static long ofSegments(Posix posix, Path folder, Collection<SegmentFile> segments) {
        long sum = 0;
        for (SegmentFile segment : segments) {
            if (!SegmentFile.isOutside(segment.file())) {
                sum += status(posix, folder.resolve(segment.file())).storedBytes();
            }
        }
        return sum;
    }

    private static @Nullable FileStatus status(Path place) {
        try {
            return status(POSIX, place);
        } catch (LarderException goneOrLink) {
            return null;
        }
    }

    /** Returns the status of a file. Fails as {@link Posix#openForReading} does, such as for a link. */
    public static FileStatus status(Posix posix, Path file) {
        int descriptor = posix.openForReading(file);
        try {
            return posix.status(descriptor);
        } finally {
            posix.close(descriptor);
        }
    }
}
