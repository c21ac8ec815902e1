package dev.larder.internal.posix;

/**
 * What a file system holds at most and has left.
 *
 * @param totalBytes its size
 * @param freeBytes what this user may still fill
 * @param totalFiles how many files and folders it can have; 0 where it has no limit
 * @param freeFiles how many of these are left
 */
public record FileSystemSpace(long totalBytes, long freeBytes, long totalFiles, long freeFiles) {}
