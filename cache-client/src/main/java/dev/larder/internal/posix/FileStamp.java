package dev.larder.internal.posix;

/**
 * The identity and state of a file at one moment. If two stamps are equal, the file was neither changed nor replaced in
 * between, as far as its file system records.
 *
 * @param inode its number on its file system
 * @param byteSize its length
 * @param modifiedNanos time of the last write, in nanoseconds since the epoch
 */
public record FileStamp(long inode, long byteSize, long modifiedNanos) {
    /** Returns the stamp of an open file. */
    public static FileStamp of(FileStatus status) {
        return new FileStamp(status.inode(), status.byteSize(), status.modifiedNanos());
    }
}
