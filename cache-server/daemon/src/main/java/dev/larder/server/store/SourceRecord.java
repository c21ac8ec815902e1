package dev.larder.server.store;

/**
 * Says where arrays came from, so that a version can be loaded again.
 *
 * @param array the array within its dataset
 * @param path the file it was read from
 * @param bytes how long that file was
 * @param modified when it was last changed, nanoseconds since the epoch
 * @param inode its number on its file system
 */
public record SourceRecord(String array, String path, long bytes, long modified, long inode) {}
