package dev.larder.internal.layout;

import dev.larder.internal.posix.FileStamp;

/**
 * Describes a file that holds arrays, as the index has it.
 *
 * @param file its path: relative to the version's folder, or absolute where it lies outside the store and is mapped in place
 * @param byteSize its length
 * @param modifiedNanos when it was last written, in nanoseconds since the epoch; 0 for a file of the store
 * @param inode its number on its file system; 0 for a file of the store
 */
public record SegmentFile(String file, long byteSize, long modifiedNanos, long inode) {
    /** Describes a file of the store, which never changes. */
    public static SegmentFile inStore(String file, long byteSize) {
        return new SegmentFile(file, byteSize, 0, 0);
    }

    /** Returns what the file looked like when it was loaded. */
    public FileStamp stamp() {
        return new FileStamp(inode, byteSize, modifiedNanos);
    }

    /** Tells whether a segment lies outside the store, by its path. */
    public static boolean isOutside(String file) {
        return file.startsWith("/");
    }
}
