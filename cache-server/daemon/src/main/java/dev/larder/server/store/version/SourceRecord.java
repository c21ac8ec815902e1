package dev.larder.server.store.version;

import dev.larder.internal.posix.FileStamp;

/**
 * A source file of an array, so that a version can be loaded again.
 *
 * @param array the array within its dataset
 * @param path the file that was read
 * @param bytes its length
 * @param modified when it was last written, in nanoseconds since the epoch
 * @param changed when its inode last changed, which no program can set; 0 if not known
 * @param inode its number in its file system
 * @param sample a hash of its length and of some of its blocks, in hex; empty if it was not taken
 */
public record SourceRecord(
        String array, String path, long bytes, long modified, long changed, long inode, String sample) {
    /** Returns the stamp of the file when it was loaded. */
    public FileStamp stamp() {
        return new FileStamp(inode, bytes, modified);
    }

    /** Returns whether the file system reports the same for both files, so that their contents are the same. */
    public boolean isUnchangedFrom(SourceRecord other) {
        return looksLike(other)
                && stamp().equals(other.stamp())
                && (changed == other.changed || changed == 0 || other.changed == 0);
    }

    /** Returns whether both files have the same path, length and, if sampled, sampled bytes. Times are not compared. */
    public boolean looksLike(SourceRecord other) {
        return array.equals(other.array)
                && path.equals(other.path)
                && bytes == other.bytes
                && sample.equals(other.sample);
    }
}
