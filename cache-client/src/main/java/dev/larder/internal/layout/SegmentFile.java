package dev.larder.internal.layout;

import dev.larder.internal.posix.FileStamp;

/**
 * Describes a file with arrays, as in the index.
 *
 * @param file its path: relative to the version's folder, or absolute if it is outside the store and mapped in place
 * @param byteSize its length
 * @param modifiedNanos time of the last write, in nanoseconds since the epoch; 0 for a file of the store
 * @param inode its number on its file system; 0 for a file of the store
 */
public record SegmentFile(String file, long byteSize, long modifiedNanos, long inode) {
    /** Describes a file of the store, which never changes. */
    public static SegmentFile inStore(String file, long byteSize) {
        return new SegmentFile(file, byteSize, 0, 0);
    }

    /** Returns the stamp of the file when it was loaded. */
    public FileStamp stamp() {
        return new FileStamp(inode, byteSize, modifiedNanos);
    }

    /** Returns whether the path of a segment is outside the store. */
    public static boolean isOutside(String file) {
        return file.startsWith("/");
    }
}
