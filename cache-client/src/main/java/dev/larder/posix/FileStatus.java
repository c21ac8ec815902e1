package dev.larder.posix;

/**
 * Describes an open file as the kernel sees it.
 *
 * @param deviceMajor with {@code deviceMinor} the file system it lies on
 * @param inode its number there
 * @param links how many names it still has: 0 once it is unlinked
 * @param uid the owner
 * @param mode type and permission bits
 * @param byteSize its length
 * @param storedBytes what it really occupies
 * @param modifiedNanos when it was last written, in nanoseconds since the epoch
 */
public record FileStatus(
        int deviceMajor,
        int deviceMinor,
        long inode,
        int links,
        int uid,
        int mode,
        long byteSize,
        long storedBytes,
        long modifiedNanos) {
    private static final int TYPE_MASK = 0170000;
    private static final int REGULAR_FILE = 0100000;

    /** Returns whether a name still leads to the file. */
    public boolean isLinked() {
        return links > 0;
    }

    /** Returns whether it is neither a folder nor a pipe, device or socket. */
    public boolean isRegularFile() {
        return (mode & TYPE_MASK) == REGULAR_FILE;
    }
}
