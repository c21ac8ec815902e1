package dev.larder.server.source;

import dev.larder.error.LarderException;
import dev.larder.posix.FileStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether a file is still the one that was read: equal if nothing changed as far as the file system says.
 *
 * @param file where it lies, absolute
 * @param byteSize its length
 * @param modifiedNanos when it was last written, in nanoseconds since the epoch
 * @param inode its number in its file system
 */
public record SourceIdentity(Path file, long byteSize, long modifiedNanos, long inode) {
    private static final String ATTRIBUTES = "unix:size,lastModifiedTime,ino,isRegularFile,isDirectory";

    /**
     * Looks at a file, through links, without opening it. Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if it
     * is not there or no regular file.
     */
    public static SourceIdentity of(Path file) {
        Map<String, Object> attributes;
        try {
            attributes = Files.readAttributes(file, ATTRIBUTES);
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, e);
        }
        if (!Boolean.TRUE.equals(attributes.get("isRegularFile"))) {
            throw irregular(file, Boolean.TRUE.equals(attributes.get("isDirectory")));
        }
        return new SourceIdentity(
                file.toAbsolutePath(),
                number(attributes.get("size")),
                number(attributes.get("lastModifiedTime")),
                number(attributes.get("ino")));
    }

    /** Describes an open file. Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if it is no regular file. */
    public static SourceIdentity of(Path file, FileStatus status) {
        if (!status.isRegular()) {
            throw irregular(file, status.isFolder());
        }
        return new SourceIdentity(file.toAbsolutePath(), status.byteSize(), status.modifiedNanos(), status.inode());
    }

    private static LarderException irregular(Path file, boolean isFolder) {
        return Refusal.of(file, 0, isFolder ? "it is a folder" : "it is no regular file but a pipe, device or socket");
    }

    private static long number(@Nullable Object attribute) {
        if (attribute instanceof FileTime time) {
            return time.to(TimeUnit.NANOSECONDS);
        }
        return attribute instanceof Number number ? number.longValue() : 0;
    }

    /** Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if the file was changed or replaced since. */
    public void requireUnchanged() {
        if (!equals(of(file))) {
            throw Refusal.of(file, 0, "it changed while it was read");
        }
    }
}
