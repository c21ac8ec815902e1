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

/** Measures what files occupy, which is less than their length where they have holes, and more where pages are huge. */
public final class Occupied {
    private static final Posix POSIX = Posix.system();

    private Occupied() {}

    /** Sums up the blocks of a file, or of a folder and everything in it; links are not followed. What is gone has none. */
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

    /** Sums what segments really occupy; those outside the store occupy nothing of it. */
    public static long ofSegments(Posix posix, Path folder, Collection<SegmentFile> segments) {
        long sum = 0;
        for (SegmentFile segment : segments) {
            if (!SegmentFile.isOutside(segment.file())) {
                int descriptor = posix.openForReading(folder.resolve(segment.file()));
                try {
                    sum += posix.status(descriptor).storedBytes();
                } finally {
                    posix.close(descriptor);
                }
            }
        }
        return sum;
    }

    private static @Nullable FileStatus status(Path place) {
        try {
            int descriptor = POSIX.openForReading(place);
            try {
                return POSIX.status(descriptor);
            } finally {
                POSIX.close(descriptor);
            }
        } catch (LarderException goneOrLink) {
            return null;
        }
    }
}
