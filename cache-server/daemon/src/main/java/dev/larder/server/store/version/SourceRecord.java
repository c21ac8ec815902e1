package dev.larder.server.store.version;

import dev.larder.internal.posix.FileStamp;

/**
 * Says where arrays came from, so that a version can be loaded again.
 *
 * @param array the array within its dataset
 * @param path the file it was read from
 * @param bytes how long that file was
 * @param modified when it was last written, nanoseconds since the epoch
 * @param changed when its inode last changed, which no program can set; 0 if not known
 * @param inode its number on its file system
 * @param sample a hash of its length and of blocks of it, in hex; empty where it was not taken
 */
public record SourceRecord(
        String array, String path, long bytes, long modified, long changed, long inode, String sample) {
    /** Returns what the file looked like when it was loaded. */
    public FileStamp stamp() {
        return new FileStamp(inode, bytes, modified);
    }

    /** Returns whether the file system reports the same for the file of the other: then its content is the same. */
    public boolean isUnchangedFrom(SourceRecord other) {
        return looksLike(other)
                && stamp().equals(other.stamp())
                && (changed == other.changed || changed == 0 || other.changed == 0);
    }

    /** Tells whether the file has the length and, where it was sampled, the bytes of the other, however old it is. */
    public boolean looksLike(SourceRecord other) {
        return array.equals(other.array)
                && path.equals(other.path)
                && bytes == other.bytes
                && sample.equals(other.sample);
    }
}
