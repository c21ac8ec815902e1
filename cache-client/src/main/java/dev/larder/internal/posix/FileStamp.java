package dev.larder.internal.posix;

/**
 * What a file looked like at one time. Equal stamps say that nothing has changed or replaced the file in between, as far
 * as its file system knows.
 *
 * @param inode its number on its file system
 * @param byteSize its length
 * @param modifiedNanos when it was last written, in nanoseconds since the epoch
 */
public record FileStamp(long inode, long byteSize, long modifiedNanos) {
    /** Returns the stamp of an open file. */
    public static FileStamp of(FileStatus status) {
        return new FileStamp(status.inode(), status.byteSize(), status.modifiedNanos());
    }
}
