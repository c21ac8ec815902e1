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
 * What a file looked like: equal if nothing changed as far as its file system reports.
 *
 * @param file where it lies, absolute
 * @param byteSize its length
 * @param modifiedNanos when it was last written, in nanoseconds since the epoch
 * @param changedNanos when the kernel last changed its inode: later than {@code modifiedNanos} if a program has set that time
 * @param inode its number in its file system
 */
public record SourceIdentity(Path file, long byteSize, long modifiedNanos, long changedNanos, long inode) {
    private static final String ATTRIBUTES = "unix:size,lastModifiedTime,ctime,ino,isRegularFile,isDirectory";

    /**
     * Looks at a file, through links, without opening it. Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if it
     * is not there or no regular file.
     */
    public static SourceIdentity of(Path file) {
        Status status = Status.of(file);
        if (status.isFolder()) {
            throw irregular(file, true);
        }
        return status.identity(file);
    }

    /** What the file system says of a regular file or of a folder. */
    public record Status(boolean isFolder, long byteSize, long modifiedNanos, long changedNanos, long inode) {
        /** Looks through links. Fails with a refusal where nothing is there, or neither of the two. */
        public static Status of(Path path) {
            FileStatus status;
            try {
                status = Posix.system().status(path);
            } catch (LarderException e) {
                return asTheJdkSees(path);
            }
            if (!status.isFolder() && !status.isRegular()) {
                throw irregular(path, false);
            }
            return of(status);
        }

        private static Status of(FileStatus status) {
            return new Status(
                    status.isFolder(),
                    status.byteSize(),
                    status.modifiedNanos(),
                    status.changedNanos(),
                    status.inode());
        }

        private SourceIdentity identity(Path file) {
            return new SourceIdentity(file.toAbsolutePath(), byteSize, modifiedNanos, changedNanos, inode);
        }

        /** The JDK has the words for what is wrong, and knows the bytes of names that are no text. */
        private static Status asTheJdkSees(Path path) {
            Map<String, Object> attributes;
            try {
                attributes = Files.readAttributes(path, ATTRIBUTES);
            } catch (IOException e) {
                throw Refusal.unreadable(path, 0, e);
            }
            boolean isFolder = Boolean.TRUE.equals(attributes.get("isDirectory"));
            if (!isFolder && !Boolean.TRUE.equals(attributes.get("isRegularFile"))) {
                throw irregular(path, false);
            }
            return new Status(
                    isFolder,
                    number(attributes.get("size")),
                    number(attributes.get("lastModifiedTime")),
                    number(attributes.get("ctime")),
                    number(attributes.get("ino")));
        }
    }

    /** Describes an open file. Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if it is a pipe, device or socket, not a regular file. */
    public static SourceIdentity of(Path file, FileStatus status) {
        if (!status.isRegular()) {
            throw irregular(file, status.isFolder());
        }
        return Status.of(status).identity(file);
    }

    /** Returns what the file looked like then. */
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
     * Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if the file was changed or replaced since. A new name or new permissions
     * fail no load: the next one compares the content.
     */
    public void requireUnchanged() {
        if (!stamp().equals(of(file).stamp())) {
            throw Refusal.changed(file);
        }
    }
}
