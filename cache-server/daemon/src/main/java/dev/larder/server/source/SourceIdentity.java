package dev.larder.server.source;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.FileStamp;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The state of a file. Two are equal if, as far as the file system reports, the file did not change.
 *
 * @param file its absolute path
 * @param byteSize its length
 * @param modifiedNanos the time of its last write, in nanoseconds since the epoch
 * @param changedNanos the time of the last change of its inode: later than {@code modifiedNanos} if a program has set that time
 * @param inode its number in its file system
 */
public record SourceIdentity(Path file, long byteSize, long modifiedNanos, long changedNanos, long inode) {
    /**
     * Returns the identity of a file, through links, without opening it. Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if it is
     * missing or not a regular file.
     */
    public static SourceIdentity of(Path file) {
        return of(file, status(file));
    }

    /** Returns the status of a regular file or of a folder, through links. Fails with a refusal if the path leads to neither. */
    public static FileStatus status(Path path) {
        FileStatus status;
        try {
            status = Posix.system().status(path);
        } catch (LarderException e) {
            status = jdkStatus(path);
        }
        if (!status.isFolder() && !status.isRegular()) {
            throw irregular(path, false);
        }
        return status;
    }

    /** Returns the status by the JDK, which words its failures better, and opens names that are not text. */
    private static FileStatus jdkStatus(Path path) {
        Map<String, Object> attributes;
        try {
            attributes = Files.readAttributes(path, "unix:size,lastModifiedTime,ctime,ino,mode");
        } catch (IOException e) {
            throw Refusal.unreadable(path, 0, e);
        }
        return new FileStatus(
                0,
                0,
                number(attributes.get("ino")),
                1,
                0,
                (int) number(attributes.get("mode")),
                number(attributes.get("size")),
                0,
                number(attributes.get("lastModifiedTime")),
                number(attributes.get("ctime")));
    }

    /** Returns the identity of a file with this status. Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if it is not a regular file. */
    public static SourceIdentity of(Path file, FileStatus status) {
        if (!status.isRegular()) {
            throw irregular(file, status.isFolder());
        }
        return new SourceIdentity(
                file.toAbsolutePath(),
                status.byteSize(),
                status.modifiedNanos(),
                status.changedNanos(),
                status.inode());
    }

    /** Returns the stamp that the file had. */
    public FileStamp stamp() {
        return new FileStamp(inode, byteSize, modifiedNanos);
    }

    private static LarderException irregular(Path file, boolean isFolder) {
        return Refusal.unfit(
                file,
                isFolder ? "it is a folder" : "it is a pipe, device or socket, not a regular file",
                "name regular files, or remove it from the folder");
    }

    private static long number(@Nullable Object attribute) {
        if (attribute instanceof FileTime time) {
            return time.to(TimeUnit.NANOSECONDS);
        }
        return attribute instanceof Number number ? number.longValue() : 0;
    }

    /**
     * Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if the file was changed or replaced since. New names or permissions do not fail a
     * load: the next load compares the content.
     */
    public void requireUnchanged() {
        if (!stamp().equals(of(file).stamp())) {
            throw Refusal.changed(file);
        }
    }
}
