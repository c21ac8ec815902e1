package dev.larder.internal.posix;

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
 * @param modifiedNanos when it was last written, in nanoseconds since the epoch; a program can set it to any time
 * @param changedNanos when its content, its permissions or its names last changed; no program can set it
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
        long modifiedNanos,
        long changedNanos) {
    private static final int TYPE = 0170000;
    private static final int REGULAR = 0100000;
    private static final int FOLDER = 0040000;

    /** Returns whether it is a file of bytes: no folder, pipe, device or socket. */
    public boolean isRegular() {
        return (mode & TYPE) == REGULAR;
    }

    /** Returns whether it is a folder. */
    public boolean isFolder() {
        return (mode & TYPE) == FOLDER;
    }

    /** Returns whether a name still leads to the file. */
    public boolean isLinked() {
        return links > 0;
    }
}
