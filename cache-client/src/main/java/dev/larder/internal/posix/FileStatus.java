package dev.larder.internal.posix;

/**
 * The kernel's status of an open file.
 *
 * @param deviceMajor the file system, together with {@code deviceMinor}
 * @param inode its number there
 * @param links number of names; 0 after it is unlinked
 * @param uid the owner
 * @param mode type and permission bits
 * @param byteSize its length
 * @param storedBytes number of bytes allocated
 * @param modifiedNanos time of the last write, in nanoseconds since the epoch; programs can set it
 * @param changedNanos time of the last change of contents, permissions or names; programs cannot set it
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

    /** Returns whether this is a regular file and not a folder, pipe, device or socket. */
    public boolean isRegular() {
        return (mode & TYPE) == REGULAR;
    }

    /** Returns whether this is a folder. */
    public boolean isFolder() {
        return (mode & TYPE) == FOLDER;
    }

    /** Returns whether the file still has a name. */
    public boolean isLinked() {
        return links > 0;
    }
}
