package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.posix.FileStamp;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.Posix;
import java.nio.file.Path;
import java.time.Instant;

/** Opens and maps the files with a version's arrays, in the store or outside. */
final class SegmentFiles {
    private SegmentFiles() {}

    /** Maps the first {@code byteSize} bytes of a file of a leased version. Keeps no descriptor. */
    static MappedMemory map(Posix posix, Lease lease, Path file, long byteSize) {
        int descriptor = open(posix, lease, file);
        try {
            long found = posix.status(descriptor).byteSize();
            if (found < byteSize) {
                throw Failure.of(ErrorCode.CHECKSUM, "file is shorter than its index says")
                        .with("file", file)
                        .with("found", found)
                        .with("expected", byteSize)
                        .remedy(lease.reload());
            }
            return MappedMemory.readOnly(posix, descriptor, byteSize);
        } finally {
            posix.close(descriptor);
        }
    }

    /** Maps a file outside the store. Fails if it is not the file that was loaded. */
    static MappedMemory mapOutside(Posix posix, SegmentFile source) {
        int descriptor = openOutside(posix, source);
        try {
            return MappedMemory.readOnly(posix, descriptor, source.byteSize());
        } finally {
            posix.close(descriptor);
        }
    }

    /** Fails if a file outside the store differs from the file that was loaded. */
    static void requireUnchanged(Posix posix, SegmentFile source) {
        posix.close(openOutside(posix, source));
    }

    private static int openOutside(Posix posix, SegmentFile source) {
        int descriptor;
        try {
            descriptor = posix.openForReading(Path.of(source.file()));
        } catch (LarderException e) {
            throw e.code() != ErrorCode.NOT_FOUND
                    ? e
                    : Failure.of(ErrorCode.BAD_INPUT, "a file that is mapped in place is missing")
                            .with("file", source.file())
                            .cause(e)
                            .remedy("restore the file, or load the dataset from another path");
        }
        try {
            FileStatus found = posix.status(descriptor);
            if (!FileStamp.of(found).equals(source.stamp())) {
                throw Failure.of(ErrorCode.CHECKSUM, "a file that is mapped in place has changed")
                        .with("file", source.file())
                        .with("bytes", found.byteSize())
                        .with("loadedBytes", source.byteSize())
                        .with("modified", Instant.EPOCH.plusNanos(found.modifiedNanos()))
                        .with("loadedModified", Instant.EPOCH.plusNanos(source.modifiedNanos()))
                        .remedy("larder reload loads its current contents as the next version");
            }
            return descriptor;
        } catch (RuntimeException | Error e) {
            posix.close(descriptor);
            throw e;
        }
    }

    /** Opens a file of a leased version. Reports a missing file as damage, because only a daemon that ends removes leased files. */
    static int open(Posix posix, Lease lease, Path file) {
        try {
            return posix.openForReading(file);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                lease.requireInStore();
                throw Failure.of(ErrorCode.CHECKSUM, "file of a published version is missing")
                        .with("file", file)
                        .cause(e)
                        .remedy(lease.reload());
            }
            throw e;
        }
    }
}
